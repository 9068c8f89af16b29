#include "rectiline/support/threads.hpp"

#include "common.hpp"

void bind_quantile_basis(nb::module_& m);

NB_MODULE(_core, m) {
    m.doc() = "Compiled core of rectiline: products, certificates and solver loops.";
    m.def("default_thread_count", &rectiline::support::default_thread_count,
          "Number of threads used when n_threads is 0.");
    bind_design(m);
    bind_rows(m);
    bind_proof(m);
    bind_rehline(m);
    bind_rehline_units(m);
    bind_newton(m);
    bind_newton_loop(m);
    bind_newton_path(m);
    bind_newton_run(m);
    bind_simplex(m);
    bind_sorted_l1(m);
    bind_group_linf(m);
    bind_proximal_multipliers(m);
    bind_quantile_basis(m);
}
