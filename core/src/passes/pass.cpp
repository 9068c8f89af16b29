#include "rectiline/passes/pass.hpp"

#include "rectiline/design/gram.hpp"
#include "rectiline/passes/chunks.hpp"
#include "rectiline/support/compensated.hpp"
#include "rectiline/support/threads.hpp"

#include <cassert>
#include <memory>

namespace rectiline::passes {
namespace {

// Rows of a task, which one thread works off; most tasks between two polls for interrupts, and
// about how many numbers their sums may hold together. Sums are taken over chunks, then over the
// chunks of a task, then over tasks in their order.
constexpr std::int64_t kTask = 2048, kMostTasks = 128, kMostEntries = 1 << 20;
// Terms that one sum has at most until it is compensated, with a margin for the rest.
constexpr double kUnitRoundoff = 0x1p-53;

// Walks along a sorted list of rows, chunk by chunk.
class RowCursor {
  public:
    void start(std::span<const std::int64_t> rows, std::int64_t first) {
        end_ = rows.end();
        at_ = std::lower_bound(rows.begin(), end_, first);
    }
    // Sets marks to 1 for the rows of the chunk that are in the list, and to 0 for the others.
    void mark(std::int64_t first, std::int64_t count, double* marks) {
        std::fill_n(marks, count, 0.0);
        for (; at_ < end_ && *at_ < first + count; ++at_)
            marks[*at_ - first] = 1.0;
    }

  private:
    std::span<const std::int64_t>::iterator at_, end_;
};

// What a task found out about one member.
struct Part {
    RowCursor listed, always;
    RowSums sums;
    double steepest;
    std::vector<double> gradient, change;
    RowEntries row;  // of which the length is measured
    std::vector<std::int64_t> near;
    WeightedRows more, less;  // curvature that rows gain or lose

    void reset(const Member& member, std::int64_t d, std::int64_t first) {
        listed.start(member.listed, first);
        always.start(member.always, first);
        sums = {}, steepest = 0;
        const auto size = static_cast<std::size_t>(d);
        gradient.assign(size, 0.0), change.assign(size, 0.0);
        near.clear(), more.clear(), less.clear();
    }
};

// What a member needs in every chunk.
struct Prepared {
    std::vector<double> size, shift;
    Directions directions;

    explicit Prepared(const Member& member) {
        for (const double b : member.coef)
            size.push_back(std::fabs(b));
        if (member.splits) {
            for (std::size_t j = 0; j < member.mean.size(); ++j)
                shift.push_back(-member.scale[j] * member.mean[j]);
            directions =
                Directions(member.directions, std::ssize(member.coef), member.has_intercept);
        }
    }
};

// Prefetches the losses of the rows of the next chunk.
void prefetch_row_functions(const RowFunctions& rows, std::int64_t first, std::int64_t last) {
    const std::int64_t bytes = std::min(kChunk, last - first) * 8;
    for (const double* part : {rows.direction, rows.offset, rows.weight})
        prefetch_bytes(part + first, bytes);
}

// Predictions of a chunk, the sizes of their terms, and bounds on the lengths of rows for a split.
template <class Access>
void predict(Access& access, const Member& member, const Prepared& prepared, Chunk& c) {
    const bool lengths = member.splits;
    const SumOf z{member.coef.data(), nullptr, member.intercept, c.z};
    const SumOf length{member.scale.data(), prepared.shift.data(), 0.0, c.length};
    if (!member.evaluates) {  // no row is frozen
        for (double* part : {c.g, c.curved, c.crossed})
            std::fill_n(part, c.count, 0.0);
        if (lengths) access.template sums<Sum::product, Sum::distance>(z, length);
        return;
    }
    const SumOf split{member.split.data(), nullptr, member.split_intercept, c.z_split};
    const SumOf size{prepared.size.data(), nullptr, std::fabs(member.intercept), c.size};
    access.template sums<Sum::product, Sum::product>(z, split);
    if (lengths)
        access.template sums<Sum::absolute, Sum::distance>(size, length);
    else
        access.template sums<Sum::absolute>(size);
}

// Decides which rows are near; candidates are looked at one by one.
template <class Access>
void find_near(Access& access, const Member& member, const Directions& directions,
               std::int64_t first, Chunk& c, Part& part) {
    const double* weight = member.rows.weight + first;
    const int count = list_close(weight, member.reach, member.least, c);
    const double reach = member.reach * member.reach;
    for (int k = 0; k < count; ++k) {
        const int r = c.candidates[k];
        part.row.values.clear(), part.row.indices.clear();
        access.for_each(r, [&](std::int64_t j, double x) {
            part.row.values.push_back(x), part.row.indices.push_back(j);
        });
        double square = 0;
        with_lanes<SquaredLength>(static_cast<const RowEntries*>(&part.row), &directions, &square);
        const bool has_crossed = weight[r] > 0 && c.crossed[r] > 0 && c.listed[r] == 0;
        if (!(has_crossed || c.kept[r] > 0 || c.slack[r] * c.slack[r] <= reach * square)) continue;
        part.near.push_back(first + r);
        c.g_next[r] = c.curved_next[r] = 0;
    }
}

// `c.length` holds the sums that bound the lengths of rows.
template <class Access>
void split_chunk(Access& access, const Member& member, const Directions& directions,
                 std::int64_t first, Chunk& c, Part& part) {
    part.always.mark(first, c.count, c.kept);
    find_near(access, member, directions, first, c, part);
    const Changes changes = take_changes(c);
    part.sums[kChangeTotal] += changes.total;
    for (std::int64_t r = 0; changes.curvatures > 0 && r < c.count; ++r) {
        const double curved = c.curved_next[r];
        if (curved > 0) part.more.add(first + r, curved);
        if (curved < 0) part.less.add(first + r, -curved);
    }
    if (changes.slopes > 0) access.add(c.g_next, part.change.data());
}

// Works off the rows first to last for all members.
template <class Access>
void run_task(Access& access, std::span<const Member> members,
              const std::vector<Prepared>& prepared, std::int64_t d, std::int64_t first,
              std::int64_t last, Chunk& c, Part* parts) {
    const double unit = kUnitRoundoff * (static_cast<double>(d) + 8);
    int n_sums = 0;
    for (const Member& member : members)
        n_sums += member.evaluates ? 2 : 1;
    for (std::int64_t i = first; i < last; i += kChunk) {
        c.count = std::min(kChunk, last - i);
        access.load(i, c.count, n_sums);
        for (std::size_t k = 0; k < members.size(); ++k) {
            const Member& member = members[k];
            Part& part = parts[k];
            prefetch_row_functions(member.rows, i + c.count, last);
            predict(access, member, prepared[k], c);
            part.listed.mark(i, c.count, c.listed);
            if (member.evaluates) {
                with_curves(member.rows, [&](const auto& curves) {
                    evaluate_rows(curves, member.rows, i, unit, c, part.sums, part.steepest);
                });
                access.add(c.g, part.gradient.data());
                if (!member.out.empty()) std::copy(c.g, c.g + c.count, &member.out[i]);
            }
            if (member.splits) {
                with_curves(member.rows,
                            [&](const auto& curves) { look_at_rows(curves, member.rows, i, c); });
                split_chunk(access, member, prepared[k].directions, i, c, part);
            }
        }
    }
}

// Sums over tasks of one member, compensated.
struct Totals {
    std::array<CompensatedSum, kRowSums> rows;
    std::vector<CompensatedSum> gradient, change;
    std::vector<double> curvature;

    explicit Totals(std::size_t d) : gradient(d), change(d) {}

    void add(const Part& part, const Member& member, Sums& out) {
        for (std::size_t k = 0; k < rows.size(); ++k)
            rows[k].add(part.sums[k]);
        out.steepest = std::max(out.steepest, part.steepest);
        for (std::size_t j = 0; j < gradient.size(); ++j) {
            gradient[j].add(part.gradient[j]);
            if (member.splits) change[j].add(part.change[j]);
        }
        out.near.insert(out.near.end(), part.near.begin(), part.near.end());
    }
    void write(const Member& member, Sums& out) const {
        for (std::size_t k = 0; k < rows.size(); ++k)
            out.rows[k] = rows[k].value();
        const auto values = [](const std::vector<CompensatedSum>& sums) {
            std::vector<double> found;
            for (const CompensatedSum& one : sums)
                found.push_back(one.value());
            return found;
        };
        out.gradient = values(gradient);
        if (member.splits) out.change = values(change), out.curvature = curvature;
    }
};

// Curvature that frozen rows gain and lose, over the tasks of a segment.
void add_curvature(const DesignView& X, const std::vector<std::vector<Part>>& parts,
                   std::size_t count, std::size_t member, bool has_intercept, Interrupt& interrupt,
                   std::vector<double>& gram) {
    WeightedRows more, less;
    for (std::size_t task = 0; task < count; ++task)
        more.append(parts[task][member].more), less.append(parts[task][member].less);
    add_weighted_gram(X, more, has_intercept, 1.0, gram, interrupt);
    add_weighted_gram(X, less, has_intercept, -1.0, gram, interrupt);
}

}  // namespace

bool run_pass(const DesignView& X, std::span<const Member> members, Interrupt& interrupt,
              std::vector<Sums>& out) {
    const std::int64_t n = n_rows(X), d = n_columns(X);
    out.assign(members.size(), {});
    std::vector<Totals> totals(members.size(), Totals(d));
    std::vector<Prepared> prepared;
    for (const Member& member : members) {
        assert(member.rows.n == n && std::ssize(member.coef) == d);
        assert(!member.evaluates || std::ssize(member.split) == d);
        assert(member.out.empty() || std::ssize(member.out) == n);
        assert(!member.splits || (std::ssize(member.scale) == d && std::ssize(member.mean) == d));
        prepared.emplace_back(member);
    }
    const std::int64_t n_tasks =
        std::clamp<std::int64_t>(kMostEntries / (d * std::ssize(members)), 16, kMostTasks);
    std::vector<std::vector<Part>> parts(n_tasks, std::vector<Part>(members.size()));
    const std::int64_t segment = kTask * n_tasks;
    for (std::int64_t start = 0; start < n; start += segment) {
        const std::int64_t end = std::min(n, start + segment);
        const std::int64_t tasks = (end - start + kTask - 1) / kTask;
        parallel_chunks(tasks, [&](std::int64_t task) {
            std::vector<Part>& mine = parts[task];
            const std::int64_t first = start + task * kTask, last = std::min(end, first + kTask);
            for (std::size_t k = 0; k < members.size(); ++k)
                mine[k].reset(members[k], d, first);
            const auto chunk = std::make_unique<Chunk>();
            with_access<DenseChunk, SparseChunk>(X, [&](auto& access) {
                run_task(access, members, prepared, d, first, last, *chunk, mine.data());
            });
        });
        for (std::size_t k = 0; k < members.size(); ++k) {
            for (std::int64_t task = 0; task < tasks; ++task)
                totals[k].add(parts[task][k], members[k], out[k]);
            if (members[k].splits)
                add_curvature(X, parts, tasks, k, members[k].has_intercept, interrupt,
                              totals[k].curvature);
        }
        if (interrupt.poll((end - start) * d * std::ssize(members))) return false;
    }
    for (std::size_t k = 0; k < members.size(); ++k)
        totals[k].write(members[k], out[k]);
    return true;
}

}  // namespace rectiline::passes
