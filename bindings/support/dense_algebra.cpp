// Hands the Fortran routines that SciPy exports over to the core. A capsule is named after the C
// type of its function, and only one of the expected type is taken.
#include "rectiline/support/dense_algebra.hpp"

#include "common.hpp"
#include <regex>
#include <string>

namespace {

using namespace rectiline::support;

// The type of a routine in plain C; SciPy calls a double
// "__pyx_t_5scipy_6linalg_13cython_lapack_d".
std::string plain_type(const char* name) {
    return name ? std::regex_replace(name, std::regex("\\w+_d \\*"), "double *") : "unknown";
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
    use_dense_routines(
        {routine<DenseRoutines::Factor>(potrf, "char *, int *, double *, int *, int *"),
         routine<DenseRoutines::Solve>(
             potrs, "char *, int *, int *, double *, int *, double *, int *, int *"),
         routine<DenseRoutines::Square>(syrk,
                                        "char *, char *, int *, int *, double *, double *, int *, "
                                        "double *, double *, int *")});
}

}  // namespace

void bind_dense_algebra(nb::module_& m) {
    m.def("use_dense_routines", &use_routines, "potrf"_a, "potrs"_a, "syrk"_a,
          "Take Fortran routines with 32-bit integers for dense factors and products; a ValueError "
          "if a capsule is of another type.");
}
