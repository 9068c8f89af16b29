// Hands the Fortran routines that SciPy exports over to the core. A capsule is named after the C
// type of its function, and only one of the expected type is taken.
#include "rectiline/support/dense_algebra.hpp"

#include "common.hpp"
#include <string>
#include <string_view>

namespace {

using namespace rectiline::support;

// Whether an argument such as "__pyx_t_5scipy_6linalg_13cython_lapack_d *" is of the kind wanted:
// a pointer to a (c)haracter, a 32-bit (i)nteger or a (d)ouble.
bool is_kind(std::string_view argument, char kind) {
    switch (kind) {
        case 'c':
            return argument == "char *";
        case 'i':
            return argument == "int *";
        case 'd':
            return argument == "double *" || argument.ends_with("_d *");
        default:
            return false;
    }
}

// "void (char *, int *, ...)" with one argument for each letter of `kinds`.
bool has_signature(std::string_view name, std::string_view kinds) {
    constexpr std::string_view kOpen = "void (", kBetween = ", ";
    if (!name.starts_with(kOpen) || !name.ends_with(")")) return false;
    name = name.substr(kOpen.size(), name.size() - kOpen.size() - 1);
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        const bool last = k + 1 == kinds.size();
        const std::size_t end = last ? name.size() : name.find(kBetween);
        if (end == std::string_view::npos || !is_kind(name.substr(0, end), kinds[k])) return false;
        if (!last) name.remove_prefix(end + kBetween.size());
    }
    return true;
}

template <class Routine>
Routine routine(nb::capsule capsule, std::string_view kinds) {
    const char* name = PyCapsule_GetName(capsule.ptr());
    if (name == nullptr || !has_signature(name, kinds)) {
        const std::string message = std::string("a routine has the type \"") +
                                    (name ? name : "unknown") + "\", expected are arguments " +
                                    std::string(kinds);
        throw nb::value_error(message.c_str());
    }
    return reinterpret_cast<Routine>(PyCapsule_GetPointer(capsule.ptr(), name));
}

void use_routines(nb::capsule potrf, nb::capsule potrs, nb::capsule syrk) {
    use_dense_routines({routine<DenseRoutines::Factor>(potrf, "cidii"),
                        routine<DenseRoutines::Solve>(potrs, "ciididii"),
                        routine<DenseRoutines::Square>(syrk, "cciiddiddi")});
}

}  // namespace

void bind_dense_algebra(nb::module_& m) {
    m.def("use_dense_routines", &use_routines, "potrf"_a, "potrs"_a, "syrk"_a,
          "Take Fortran routines with 32-bit integers for dense factors and products; a ValueError "
          "if a capsule is of another type.");
}
