// Hands the Fortran routines that SciPy exports over to the core. A capsule is named after the C
// type of its function, and only one of the expected type is taken.
#include "rectiline/support/dense_algebra.hpp"

#include "common.hpp"
#include <regex>
#include <string>

namespace {

using namespace rectiline::support;

// Numbers have types of their own in SciPy, such as "__pyx_t_5scipy_6linalg_13cython_lapack_d *".
template <class Routine>
Routine routine(nb::capsule capsule, const std::string& type) {
    const char* name = PyCapsule_GetName(capsule.ptr());
    const std::string given = name ? name : "unknown";
    if (std::regex_replace(given, std::regex(R"(\w+_d \*)"), "double *") != type)
        throw nb::value_error(
            ("a routine has the type \"" + given + "\", expected is \"" + type + "\"").c_str());
    return reinterpret_cast<Routine>(PyCapsule_GetPointer(capsule.ptr(), name));
}

void use_routines(nb::capsule potrf, nb::capsule potrs, nb::capsule syrk) {
    use_dense_routines(
        {routine<DenseRoutines::Factor>(potrf, "void (char *, int *, double *, int *, int *)"),
         routine<DenseRoutines::Solve>(
             potrs, "void (char *, int *, int *, double *, int *, double *, int *, int *)"),
         routine<DenseRoutines::Square>(
             syrk,
             "void (char *, char *, int *, int *, double *, double *, int *, double *, "
             "double *, int *)")});
}

}  // namespace

void bind_dense_algebra(nb::module_& m) {
    m.def("use_dense_routines", &use_routines, "potrf"_a, "potrs"_a, "syrk"_a,
          "Take Fortran routines with 32-bit integers for dense factors and products; a ValueError "
          "if a capsule is of another type.");
}
