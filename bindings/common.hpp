// Shared by the binding files: array types, views with the objects that keep them alive, and the
// interrupt that lets Ctrl-C and deadlines stop a running loop.
#pragma once

#include "rectiline/columns/columns.hpp"
#include "rectiline/design/design.hpp"
#include "rectiline/rows/rows.hpp"
#include "rectiline/support/interrupt.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "gil.hpp"
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;

using VectorIn = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using VectorOut = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using BytesIn = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MatrixIn = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using IndexIn = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using PositionsIn = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using BytesOut = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using NumpyVector = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using NumpyMatrix = nb::ndarray<nb::numpy, double, nb::ndim<2>>;
using NumpyIndices = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;

inline void require(bool holds, const char* message) {
    if (!holds) throw nb::value_error(message);
}

// The entries of an array, line after line.
template <class Array>
auto in(const Array& array) {
    return std::span(array.data(), array.size());
}

// The entries of an array that may be missing; then there are none.
template <class Array>
auto in(const std::optional<Array>& array) {
    return array ? in(*array) : decltype(in(*array))();
}

template <class Array>
std::int64_t length(const Array& array) {
    return static_cast<std::int64_t>(array.shape(0));
}

// The entries of an array that must have `size` of them.
template <class Array>
auto checked(const Array& array, std::int64_t size, const char* name) {
    const auto given = std::ssize(array);
    if (given != size)
        throw nb::value_error((std::string(name) + " must have " + std::to_string(size) +
                               " entries, got " + std::to_string(given))
                                  .c_str());
    return in(array);
}

template <class Array>
auto checked(const std::optional<Array>& array, std::int64_t size, const char* name) {
    return array ? checked(*array, size, name) : in(array);
}

// Indices that must all lie in 0, ..., limit - 1.
template <class Array>
auto checked_indices(const Array& array, std::int64_t limit, const char* name) {
    for (const auto index : in(array))
        if (index < 0 || index >= limit)
            throw nb::value_error((std::string(name) + ": " + std::to_string(index) +
                                   " is out of range, there are " + std::to_string(limit))
                                      .c_str());
    return in(array);
}

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> new_array(std::int64_t size) {
    T* data = new T[std::max<std::int64_t>(size, 1)];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return {data, {static_cast<std::size_t>(size)}, owner};
}

inline NumpyVector new_vector(std::int64_t size) {
    return new_array<double>(size);
}

// NumPy asks the system for large pages where a matrix is large: there is less to set up.
inline NumpyMatrix new_matrix(std::int64_t rows, std::int64_t columns) {
    const nb::object empty = nb::module_::import_("numpy").attr("empty");
    return nb::cast<NumpyMatrix>(empty(nb::make_tuple(rows, columns)));
}

// A new vector that `work` fills, without the GIL.
template <class Work>
NumpyVector filled(std::int64_t size, Work&& work) {
    NumpyVector out = new_vector(size);
    gil::Released released;
    work(in(out));
    return out;
}

// Several new vectors that `work` fills, without the GIL.
template <class Work, class... Sizes>
auto all_filled(Work&& work, Sizes... sizes) {
    std::tuple out(new_vector(sizes)...);
    gil::Released released;
    std::apply([&](auto&... vectors) { work(in(vectors)...); }, out);
    return out;
}

template <class Values>
auto copy_vector(const Values& values) {
    auto out = new_array<std::remove_cvref_t<decltype(*values.data())>>(std::ssize(values));
    std::copy_n(values.data(), values.size(), out.data());
    return out;
}

// A bound method: a copy of the vector that `getter` refers to.
template <class Self, auto getter>
auto copied(const Self& self) {
    return copy_vector((self.*getter)());
}

// A bound method: a new vector of size(self) entries that `method` fills.
template <class Self, auto method, auto size>
NumpyVector filled_by(Self& self) {
    return filled(std::invoke(size, self), [&](auto out) { (self.*method)(out); });
}

// A bound method that takes a vector of size(self) entries.
template <class Self, auto method, auto size>
void given(Self& self, VectorIn vector) {
    const auto values = checked(vector, std::invoke(size, self), "the vector");
    gil::Released released;
    (self.*method)(values);
}

template <class Array>
auto vector_of(const Array& array) {
    return std::vector(array.data(), array.data() + array.size());
}

// The Python object of an argument: an array, a bound object or a plain object.
template <class T>
nb::object object_of(const T& argument) {
    if constexpr (std::is_base_of_v<nb::handle, T>)
        return nb::borrow(argument);
    else if constexpr (requires { argument.keep; })
        return nb::find(argument);
    else
        return nb::cast(argument);
}

template <class... Arguments>
std::vector<nb::object> kept(const Arguments&... arguments) {
    return {object_of(arguments)...};
}

// A compiled object with the Python objects whose memory it looks at.
template <class T>
struct Held : T {
    template <class... Arguments>
    explicit Held(std::vector<nb::object> keep, Arguments&&... arguments)
        : T{std::forward<Arguments>(arguments)...}, keep(std::move(keep)) {}

    std::vector<nb::object> keep;
};

// A view of X together with the arrays it looks at.
struct Design {
    rectiline::design::DesignView view;
    std::vector<nb::object> keep;

    std::int64_t n() const { return rectiline::design::n_rows(view); }
    std::int64_t d() const { return rectiline::design::n_columns(view); }
    bool is_dense() const { return view.index() < 2; }
};

struct Rows {
    rectiline::rows::RowFunctions view;
    std::vector<rectiline::rows::Curve> curves;
    std::vector<nb::object> keep;

    std::int64_t n() const { return view.n; }
};

struct Columns {
    rectiline::columns::ColumnFunctions view;
    std::vector<nb::object> keep;

    std::int64_t d() const { return view.d; }
};

// What compiled loops of this thread call now and then besides their deadline, or nullptr; set by
// `set_poll`, which owns the reference. A true value asks the loop to return.
inline thread_local PyObject* poll_of_thread = nullptr;

// Polls Python's signal handlers, a deadline and `poll_of_thread` while the GIL is released.
class PythonInterrupt {
  public:
    explicit PythonInterrupt(double seconds)
        : deadline_(seconds < 1e9
                        ? std::chrono::steady_clock::now() +
                              std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                  std::chrono::duration<double>(seconds))
                        : std::chrono::steady_clock::time_point::max()),
          interrupt_(&check, this) {}
    rectiline::support::Interrupt& handle() { return interrupt_; }
    // Call with the GIL held after the loop: turns a caught signal into its Python exception.
    void rethrow() const {
        if (signalled_) throw nb::python_error();
    }

  private:
    static constexpr double kSecondsPerMultiplyAdd = 1e-10;  // of a library, measured on one core

    static bool check(void* self, std::int64_t ahead) {
        return static_cast<PythonInterrupt*>(self)->stop(ahead);
    }
    bool stop(std::int64_t ahead) {
        const std::chrono::duration<double> left = deadline_ - std::chrono::steady_clock::now();
        if (left.count() <= kSecondsPerMultiplyAdd * static_cast<double>(ahead)) return true;
        gil::Acquired acquired;
        signalled_ = signalled_ || PyErr_CheckSignals() != 0;
        if (signalled_ || poll_of_thread == nullptr) return signalled_;
        PyObject* answer = PyObject_CallNoArgs(poll_of_thread);
        const int says_stop = answer == nullptr ? -1 : PyObject_IsTrue(answer);
        Py_XDECREF(answer);
        signalled_ = says_stop < 0;  // its exception is raised by `rethrow`
        return says_stop != 0;
    }
    std::chrono::steady_clock::time_point deadline_;
    rectiline::support::Interrupt interrupt_;
    bool signalled_ = false;
};

constexpr double kNoDeadline = 1e300;  // seconds: the poll of the thread knows the time limit

// Returns work(interrupt), run without the GIL, or raises what a signal handler has raised.
template <class Work>
auto run_interruptibly(double seconds, Work&& work) {
    PythonInterrupt interrupt(seconds);
    auto result = [&] {
        gil::Released released;
        return work(interrupt.handle());
    }();
    interrupt.rethrow();
    return result;
}

void bind_design(nb::module_& m);
void bind_proof(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_rehline(nb::module_& m);
void bind_newton(nb::module_& m);
void bind_simplex(nb::module_& m);
void bind_unit_interior(nb::module_& m);
void bind_prox(nb::module_& m);
