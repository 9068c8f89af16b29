#include "rectiline/support/vectors.hpp"
#include "rectiline/support/threads.hpp"

#include "common.hpp"
#include <cstdlib>

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
    bind_dense_algebra(m);
    bind_design(m);
    bind_rows(m);
    bind_proof(m);
    bind_rehline(m);
    bind_newton(m);
    bind_smoothed_l1(m);
    bind_simplex(m);
    bind_unit_interior(m);
    bind_prox(m);
    bind_proximal_multipliers(m);
    bind_quantile_basis(m);
    bind_passes(m);
}
