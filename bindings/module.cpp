#include "rectiline/support/dense_algebra.hpp"
#include "rectiline/support/threads.hpp"
#include "rectiline/support/vectors.hpp"

#include "common.hpp"
#include <cstdlib>
#include <string>

void bind_passes(nb::module_& m);
void bind_quantile_basis(nb::module_& m);

namespace {

// Makes compiled loops of this thread call `poll`; returns what they called before.
nb::object set_poll(const nb::object& poll) {
    PyObject* before = poll_of_thread;
    poll_of_thread = poll.is_none() ? nullptr : poll.inc_ref().ptr();
    return before == nullptr ? nb::none() : nb::steal(before);
}

using NumbersIn = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

bool all_finite(NumbersIn values) {
    return rectiline::support::all_finite(std::span(values.data(), values.size()));
}

// ---- Fortran routines that SciPy exports: a capsule is named after the C type of its function,
// and only one of the expected type is taken

// The type of a routine in plain C; SciPy calls a double
// "__pyx_t_5scipy_6linalg_13cython_lapack_d". Read by hand: std::regex crashes beside libraries
// that were built with another compiler.
std::string plain_type(const char* name) {
    std::string text = name ? name : "unknown";
    for (std::size_t end = text.find("_d *"); end != std::string::npos; end = text.find("_d *")) {
        const std::size_t begin = text.find_last_of(" (", end) + 1;
        text.replace(begin, end + 2 - begin, "double");
    }
    return text;
}

template <class Routine>
Routine routine(nb::capsule capsule, const std::string& arguments) {
    const char* name = PyCapsule_GetName(capsule.ptr());
    const std::string found = plain_type(name), wanted = "void (" + arguments + ")";
    if (found != wanted)
        throw nb::value_error(
            ("a routine has the type \"" + found + "\", expected is \"" + wanted + "\"").c_str());
    return reinterpret_cast<Routine>(PyCapsule_GetPointer(capsule.ptr(), name));
}

void use_routines(nb::capsule potrf, nb::capsule potrs, nb::capsule syrk) {
    using namespace rectiline::support;
    use_dense_routines(
        {routine<DenseRoutines::Factor>(potrf, "char *, int *, double *, int *, int *"),
         routine<DenseRoutines::Solve>(
             potrs, "char *, int *, int *, double *, int *, double *, int *, int *"),
         routine<DenseRoutines::Square>(syrk,
                                        "char *, char *, int *, int *, double *, double *, int *, "
                                        "double *, double *, int *")});
}

}  // namespace

NB_MODULE(_core, m) {
    // Python never unwinds daemon threads at exit, so that objects which they hold are still there
    // when nanobind counts. To a user that looks like an error; set the variable to look for leaks.
    nb::set_leak_warnings(std::getenv("RECTILINE_REPORT_LEAKS") != nullptr);
    gil::end_threads_with_process();
    m.doc() = "Compiled core of rectiline: products, certificates and solver loops.";
    m.def("set_poll", &set_poll, "poll"_a.none(),
          "Let compiled loops of this thread call `poll` now and then; a true answer stops them. "
          "Returns what was set before.");
    m.def("all_finite", &all_finite, "values"_a, "Whether every entry is finite");
    m.def("thread_count", &rectiline::support::thread_count,
          "Threads that compiled loops of this thread use");
    m.def("set_thread_count", &rectiline::support::set_thread_count, "count"_a,
          "Set the threads of compiled loops of this thread, 0 for those of the process. Returns "
          "what was set before.");
    m.def("set_process_thread_count", &rectiline::support::set_process_thread_count, "count"_a,
          "Set the threads of compiled loops of all threads that have no setting of their own, 0 "
          "for what the environment asks for. Returns what was set before.");
    m.def("use_dense_routines", &use_routines, "potrf"_a, "potrs"_a, "syrk"_a,
          "Take Fortran routines with 32-bit integers for dense factors and products; a ValueError "
          "if a capsule is of another type.");
    bind_design(m);
    bind_rows(m);
    bind_proof(m);
    bind_rehline(m);
    bind_newton(m);
    bind_simplex(m);
    bind_unit_interior(m);
    bind_prox(m);
    bind_quantile_basis(m);
    bind_passes(m);
}
