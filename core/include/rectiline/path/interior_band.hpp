// A primal-dual interior method for the rows of a linear program that lie in a band around their
// kinks; the other rows stay on their side.
//
// With v the multiplier of a row and r+ - r- = a its two parts, the optimum has r+ (1 - v) = r- v =
// 0, and so have columns with u+ - u- = b, whose multiplier q has the slacks l1 - q and l1 + q. A
// step solves, linearised,
//
//     r+ (1 - v) = r- v = t,   u+ (l1 - q) = u- (l1 + q) = t',   pull of the rows + q + rho b = 0,
//
// for targets t, t' a little above zero. The parts are those of a and b, lifted off zero by lengths
// that are halved with every step. Columns without l1 have no q. Coefficients move along a step to
// where the true objective is least, multipliers as far as their ranges allow.
#pragma once

#include "rectiline/path/busy_system.hpp"
#include "rectiline/path/kinked_rows.hpp"
#include "rectiline/rooms.hpp"

#include <cstdint>
#include <vector>

namespace rectiline::path {

class InteriorBand {
  public:
    explicit InteriorBand(const KinkedRows& rows);  // which must outlive this

    // Starts at coefficients, their arguments, and multipliers that are inside (0, 1) within the
    // band |a| < h; `w` are lengths that matter for the coefficients. False if no row is inside.
    bool start(const std::vector<double>& b, const std::vector<double>& a,
               const std::vector<double>& v, double h, const std::vector<double>& w,
               const std::vector<double>& l1, const std::vector<double>& rho);
    // Goes on where the last step ended, with a penalty so many times as strong.
    void go_on(double ratio);
    std::int64_t n_inside() const { return static_cast<std::int64_t>(listed_.size()); }
    bool is_started() const { return !listed_.empty(); }

    bool step();   // false when its system has no factor
    void admit();  // rows outside that have come to the other side of their kink

    const std::vector<double>& b() const { return b_; }
    const std::vector<double>& a() const { return a_; }
    const std::vector<double>& v() const { return v_; }
    const std::vector<double>& g() const { return g_; }  // what the rows pull with

  private:
    using Vector = std::vector<double>;
    void include(std::int64_t i);
    void set_parts();
    void set_directions();
    void solve();  // db, and the change of the arguments inside
    void move_coefficients();
    void move_multipliers();
    DesignView inside() const;

    const KinkedRows& rows_;
    std::int64_t n_, d_ = 0, p_;
    Vector b_, a_, v_, g_, q_, l1_, rho_, w_;
    double h_ = 0, lift_ = 0, column_lift_ = 0;  // the latter in units of w
    std::vector<std::int64_t> listed_, places_;  // rows inside; 0, 1, 2, ...
    std::vector<std::uint8_t> is_inside_;
    AlignedVector packed_;  // these rows
    BusySystem system_;
    Vector plus_, minus_, D_, weight_, wanted_, dv_, da_inside_;  // of the rows inside
    Vector E_, dq_, column_wanted_, stiffness_, right_, db_, da_, pull_, change_;
    double row_target_ = 0, column_target_ = 0;
};

}  // namespace rectiline::path
