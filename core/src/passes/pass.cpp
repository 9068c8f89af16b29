#include "rectiline/passes/pass.hpp"

#include "rectiline/design/gram.hpp"
#include "rectiline/passes/chunk_access.hpp"
#include "rectiline/passes/row_kernels.hpp"
#include "rectiline/support/compensated.hpp"
#include "rectiline/support/threads.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>

namespace rectiline::passes {
namespace {

// Rows of a task, which one thread works off, and tasks between two polls for interrupts. Sums are
// taken over chunks, then over the chunks of a task, then over tasks in their order.
constexpr std::int64_t kTask = 4096, kTasks = 32;
constexpr std::int64_t kFew = 16;  // rows of a chunk that are added one by one
// Terms that one sum has at most until it is compensated, with a margin for the rest.
constexpr double kUnitRoundoff = 0x1p-53;

// What a task found out about one member.
struct Part {
    ChunkSums sums;
    double change_total = 0;
    std::vector<double> gradient, change, sizes, buffer;
    std::vector<std::int64_t> near, more_rows, less_rows;
    std::vector<double> more, less;  // curvature that rows gain or lose

    void reset(std::int64_t d, bool wants_sizes) {
        sums = {};
        change_total = 0;
        const auto size = static_cast<std::size_t>(d);
        gradient.assign(size, 0.0), change.assign(size, 0.0), buffer.resize(size);
        if (wants_sizes) sizes.assign(size, 0.0);
        near.clear(), more_rows.clear(), less_rows.clear(), more.clear(), less.clear();
    }
};

void add_sums(const ChunkSums& some, ChunkSums& sums) {
    sums.loss += some.loss, sums.gap += some.gap;
    sums.error += some.error, sums.total += some.total, sums.size += some.size;
    sums.weight += some.weight, sums.crossed += some.crossed;
    sums.steepest = std::max(sums.steepest, some.steepest);
}

// target += X_chunk' g, with a sum of its own for the chunk.
template <class Access>
void add_chunk(const Access& access, const double* g, std::vector<double>& buffer,
               std::vector<double>& target) {
    std::fill(buffer.begin(), buffer.end(), 0.0);
    access.add(g, buffer.data());
    for (std::size_t j = 0; j < target.size(); ++j)
        target[j] += buffer[j];
}

// Sets marks to 1 for the rows of the chunk that are in a sorted list, to 0 for the others.
void mark_rows(std::span<const std::int64_t> rows, std::int64_t first, std::span<double> marks) {
    std::fill(marks.begin(), marks.end(), 0.0);
    for (auto at = std::lower_bound(rows.begin(), rows.end(), first);
         at < rows.end() && *at < first + std::ssize(marks); ++at)
        marks[static_cast<std::size_t>(*at - first)] = 1.0;
}

template <class Access>
void predict(const Access& access, const Member& member, Chunk& c) {
    if (member.judges) {
        const double split_shift = member.split_intercept;
        access.products(member.split.data(), member.coef.data(), c.z_split, c.z, c.size);
        const double shift = member.intercept, size = std::fabs(shift);
        for (std::int64_t i = 0; i < c.count; ++i)
            c.z_split[i] += split_shift, c.z[i] += shift, c.size[i] += size;
    } else {
        access.product(member.coef.data(), c.z);
        for (std::int64_t i = 0; i < c.count; ++i)
            c.z[i] += member.intercept;
    }
}

// Decides which rows are near: those marked as close are looked at one by one.
template <class Access>
void find_near(Access& access, const Member& member, bool intercept, std::int64_t first, Chunk& c,
               Part& part) {
    const bool judged = member.judges;
    const double* weight = member.rows.weight + first;
    const bool any = judged ? mark_close<true>(weight, member.reach, c)
                            : mark_close<false>(weight, member.reach, c);
    const auto end = member.always.end();
    auto kept = std::lower_bound(member.always.begin(), end, first);
    const bool has_kept = kept < end && *kept < first + c.count;
    if (!any && !has_kept && !member.keeps_listed) return;
    for (std::int64_t r = 0; r < c.count; ++r) {
        bool is_near = has_kept && kept < end && *kept == first + r;
        if (is_near) ++kept;
        is_near = is_near || (member.keeps_listed && c.listed[r] > 0);
        if (!is_near && c.close[r] == 0) continue;
        is_near = is_near || (judged && weight[r] > 0 && c.crossed[r] > 0 && c.listed[r] == 0);
        is_near =
            is_near || access.is_longer(r, member.directions, intercept, c.slack[r] / member.reach);
        if (!is_near) continue;
        part.near.push_back(first + r);
        c.g_next[r] = c.curved_next[r] = 0;
    }
}

template <class Access>
void split_chunk(Access& access, const Member& member, bool intercept, std::int64_t first, Chunk& c,
                 Part& part) {
    access.lengths(member.scale.data(), member.centre.data(), c.length);
    for (std::int64_t r = 0; r < c.count; ++r)
        c.length[r] += member.least;
    find_near(access, member, intercept, first, c, part);
    const bool judged = member.judges;
    bool curves = false;
    part.change_total += judged ? take_changes<true>(c, curves) : take_changes<false>(c, curves);
    for (std::int64_t r = 0; curves && r < c.count; ++r) {
        const double curved = c.curved_next[r];
        if (curved > 0) part.more_rows.push_back(first + r), part.more.push_back(curved);
        if (curved < 0) part.less_rows.push_back(first + r), part.less.push_back(-curved);
    }
    std::fill(c.g_next + c.count, c.g_next + kChunk, 0.0);
    const auto changed = c.count - std::count(c.g_next, c.g_next + c.count, 0.0);
    if (changed == 0) return;
    if (changed <= kFew)
        access.add_few(c.g_next, part.change.data());
    else
        add_chunk(access, c.g_next, part.buffer, part.change);
}

void judge(const Member& member, const double* bends, double unit, std::int64_t first, Chunk& c,
           ChunkSums& sums) {
    const RowFunctions& rows = member.rows;
    const bool packed = bends && with_packed(rows.curves[0], [&](const auto& curve) {
                            judge_packed(curve, rows.direction + first, rows.offset + first,
                                         rows.weight + first, rows.curves[0].lowest_slope(),
                                         rows.curves[0].highest_slope(), unit, c, sums);
                        });
    if (!packed) judge_each(rows, first, unit, c, sums);
}

void look(const Member& member, const double* bends, std::int64_t first, Chunk& c) {
    const RowFunctions& rows = member.rows;
    const bool packed = bends && with_packed(rows.curves[0], [&](const auto& curve) {
                            look_packed(curve, bends, rows.direction + first, rows.offset + first,
                                        rows.weight + first, c);
                        });
    if (!packed) look_each(rows, first, c);
}

// Works off the rows first to last for all members.
template <class Access>
void run_task(Access& access, std::span<const Member> members,
              const std::vector<std::vector<double>>& bends, bool intercept, std::int64_t d,
              std::int64_t first, std::int64_t last, Chunk& c, Part* parts) {
    const double unit = kUnitRoundoff * (static_cast<double>(d) + 8);
    for (std::int64_t i = first; i < last; i += kChunk) {
        c.count = std::min(kChunk, last - i);
        access.load(i, c.count);
        for (std::size_t k = 0; k < members.size(); ++k) {
            const Member& member = members[k];
            const double* at = bends[k].empty() ? nullptr : bends[k].data();
            Part& part = parts[k];
            predict(access, member, c);
            mark_rows(member.listed, i, std::span(c.listed, static_cast<std::size_t>(c.count)));
            if (member.judges) {
                ChunkSums sums;
                judge(member, at, unit, i, c, sums);
                add_sums(sums, part.sums);
                std::fill(c.g + c.count, c.g + kChunk, 0.0);
                add_chunk(access, c.g, part.buffer, part.gradient);
                if (!member.out.empty()) std::copy(c.g, c.g + c.count, &member.out[i]);
            }
            if (member.wants_sizes) access.add_sizes(member.rows.weight + i, part.sizes.data());
            if (member.splits) {
                look(member, at, i, c);
                split_chunk(access, member, intercept, i, c, part);
            }
        }
    }
}

// Sums over tasks of one member, compensated.
struct Totals {
    CompensatedSum loss, gap, error, total, size, weight, change_total;
    std::vector<CompensatedSum> gradient, change, sizes;
    std::vector<double> curvature;

    explicit Totals(std::size_t d) : gradient(d), change(d), sizes(d) {}

    void add(const Part& part, const Member& member, Sums& out) {
        const ChunkSums& sums = part.sums;
        loss.add(sums.loss), gap.add(sums.gap);
        error.add(sums.error), total.add(sums.total), size.add(sums.size);
        weight.add(sums.weight), change_total.add(part.change_total);
        out.crossed += static_cast<std::int64_t>(sums.crossed);
        out.steepest = std::max(out.steepest, sums.steepest);
        for (std::size_t j = 0; j < gradient.size(); ++j) {
            gradient[j].add(part.gradient[j]);
            if (member.splits) change[j].add(part.change[j]);
            if (member.wants_sizes) sizes[j].add(part.sizes[j]);
        }
        out.near.insert(out.near.end(), part.near.begin(), part.near.end());
    }
    void write(const Member& member, Sums& out) const {
        out.loss = loss.value(), out.gap = gap.value();
        out.error = error.value(), out.total = total.value(), out.total_size = size.value();
        out.weight = weight.value(), out.change_total = change_total.value();
        const auto values = [](const std::vector<CompensatedSum>& sums) {
            std::vector<double> found;
            for (const CompensatedSum& one : sums)
                found.push_back(one.value());
            return found;
        };
        out.gradient = values(gradient);
        if (member.splits) out.change = values(change), out.curvature = curvature;
        if (member.wants_sizes) out.sizes = values(sizes);
    }
};

void add_gram(const DesignView& X, const std::vector<std::int64_t>& rows,
              const std::vector<double>& weight, bool intercept, double sign, int n_threads,
              Interrupt& interrupt, std::vector<double>& gram) {
    if (rows.empty()) return;
    const auto order = static_cast<std::size_t>(n_columns(X) + (intercept ? 1 : 0));
    std::vector<double> some(order * order);
    gram.resize(order * order, 0.0);
    weighted_gram(X, rows, weight, intercept, some, n_threads, interrupt);
    for (std::size_t e = 0; e < some.size(); ++e)
        gram[e] += sign * some[e];
}

// Curvature that frozen rows gain and lose, over the tasks of a segment.
void add_curvature(const DesignView& X, const std::vector<std::vector<Part>>& parts,
                   std::size_t count, std::size_t member, bool intercept, int n_threads,
                   Interrupt& interrupt, std::vector<double>& gram) {
    std::vector<std::int64_t> rows;
    std::vector<double> weight;
    for (const double sign : {1.0, -1.0}) {
        rows.clear(), weight.clear();
        for (std::size_t task = 0; task < count; ++task) {
            const Part& part = parts[task][member];
            const auto& some = sign > 0 ? part.more_rows : part.less_rows;
            const auto& values = sign > 0 ? part.more : part.less;
            rows.insert(rows.end(), some.begin(), some.end());
            weight.insert(weight.end(), values.begin(), values.end());
        }
        add_gram(X, rows, weight, intercept, sign, n_threads, interrupt, gram);
    }
}

std::vector<double> bends_of(const RowFunctions& rows) {
    std::vector<double> bends;
    if (rows.curve_index) return bends;
    bends.resize(static_cast<std::size_t>(rows.curves[0].n_knots));
    find_bends(rows.curves[0], bends.data());
    return bends;
}

}  // namespace

bool run_pass(const DesignView& X, std::span<const Member> members, bool intercept, int n_threads,
              Interrupt& interrupt, std::vector<Sums>& out) {
    const std::int64_t n = n_rows(X), d = n_columns(X);
    out.assign(members.size(), {});
    std::vector<Totals> totals(members.size(), Totals(static_cast<std::size_t>(d)));
    std::vector<std::vector<double>> bends;
    for (const Member& member : members) {
        assert(member.rows.n == n && std::ssize(member.coef) == d);
        assert(!member.judges || std::ssize(member.split) == d);
        assert(member.out.empty() || std::ssize(member.out) == n);
        assert(!member.splits || (std::ssize(member.scale) == d && std::ssize(member.centre) == d));
        bends.push_back(bends_of(member.rows));
    }
    std::vector<std::vector<Part>> parts(kTasks, std::vector<Part>(members.size()));
    const std::int64_t segment = kTask * kTasks;
    for (std::int64_t start = 0; start < n; start += segment) {
        const std::int64_t end = std::min(n, start + segment);
        const std::int64_t tasks = (end - start + kTask - 1) / kTask;
        parallel_chunks(n_threads, tasks, [&](std::int64_t task) {
            std::vector<Part>& mine = parts[static_cast<std::size_t>(task)];
            for (std::size_t k = 0; k < members.size(); ++k)
                mine[k].reset(d, members[k].wants_sizes);
            const std::int64_t first = start + task * kTask, last = std::min(end, first + kTask);
            const auto chunk = std::make_unique<Chunk>();
            with_chunk_access(X, [&](auto& access) {
                run_task(access, members, bends, intercept, d, first, last, *chunk, mine.data());
            });
        });
        for (std::size_t k = 0; k < members.size(); ++k) {
            for (std::int64_t task = 0; task < tasks; ++task)
                totals[k].add(parts[static_cast<std::size_t>(task)][k], members[k], out[k]);
            if (members[k].splits)
                add_curvature(X, parts, static_cast<std::size_t>(tasks), k, intercept, n_threads,
                              interrupt, totals[k].curvature);
        }
        if (interrupt.poll((end - start) * d * static_cast<std::int64_t>(members.size())))
            return false;
    }
    for (std::size_t k = 0; k < members.size(); ++k)
        totals[k].write(members[k], out[k]);
    return true;
}

}  // namespace rectiline::passes
