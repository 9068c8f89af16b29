// Eight numbers side by side, for loops that the compiler would not turn into vector code by
// itself, and a way to run such loops with the widest registers that the processor has.
//
// The registers are part of the type: a vector that is wider than the registers of an instruction
// set is kept in memory by the compiler (measured: sums of squares 10 times slower). So functions
// with lanes are not RECTILINE_MULTIVERSION; they are templates, made once for each width.
#pragma once

#include "rectiline/rooms.hpp"

#include <cstring>

#if defined(__GNUC__) || defined(__clang__)
#define RECTILINE_LANES 1
#endif

namespace rectiline::support {

constexpr int kLanes = 8;

#ifdef RECTILINE_LANES
template <int Bytes>
struct VectorTypes {
    typedef double Doubles __attribute__((vector_size(Bytes)));
    typedef float Floats __attribute__((vector_size(Bytes / 2)));
};

template <int Bytes>
struct Register {
    using Doubles = typename VectorTypes<Bytes>::Doubles;

    static RECTILINE_INLINE void widen(const float* from, Doubles& to) {
        typename VectorTypes<Bytes>::Floats narrow;
        std::memcpy(&narrow, from, sizeof narrow);
        to = __builtin_convertvector(narrow, Doubles);
    }
    static RECTILINE_INLINE double at(const Doubles& of, int lane) { return of[lane]; }
};
#else
template <int>
struct Register;
#endif

// One number, for compilers without vector types.
template <>
struct Register<8> {
    using Doubles = double;

    static void widen(const float* from, double& to) { to = static_cast<double>(*from); }
    static double at(double of, int) { return of; }
};

// Eight doubles in registers of so many bytes.
template <int Bytes>
struct Lanes {
    using Of = Register<Bytes>;
    using Doubles = typename Of::Doubles;
    static constexpr int kRegisters = 64 / Bytes, kEach = Bytes / 8;

    Doubles part[kRegisters];

    RECTILINE_INLINE void clear() {
        for (int p = 0; p < kRegisters; ++p)
            part[p] = Doubles{};
    }
    RECTILINE_INLINE void load(const double* from) {
        for (int p = 0; p < kRegisters; ++p)
            std::memcpy(&part[p], from + p * kEach, sizeof part[p]);
    }
    RECTILINE_INLINE void load(const float* from) {
        for (int p = 0; p < kRegisters; ++p)
            Of::widen(from + p * kEach, part[p]);
    }
    RECTILINE_INLINE void store(double* to) const {
        for (int p = 0; p < kRegisters; ++p)
            std::memcpy(to + p * kEach, &part[p], sizeof part[p]);
    }
    RECTILINE_INLINE void add(const Lanes& other) {
        for (int p = 0; p < kRegisters; ++p)
            part[p] += other.part[p];
    }
    RECTILINE_INLINE void add_product(double factor, const Lanes& other) {
        for (int p = 0; p < kRegisters; ++p)
            part[p] += factor * other.part[p];
    }
    RECTILINE_INLINE void add_product(const Lanes& one, const Lanes& other) {
        for (int p = 0; p < kRegisters; ++p)
            part[p] += one.part[p] * other.part[p];
    }
    RECTILINE_INLINE double operator[](int lane) const {
        return Of::at(part[lane / kEach], lane % kEach);
    }
};

// A tile of a product of two matrices that lie by rows: `Tall` columns of one times `Parts` lanes
// of columns of the other, in registers.
template <class Lanes, int Tall, int Parts>
struct ProductTile {
    Lanes of[Tall][Parts];

    RECTILINE_INLINE void set(const double* one, std::int64_t one_stride, const double* other,
                              std::int64_t other_stride, std::int64_t depth) {
        for (auto& line : of)
            for (Lanes& part : line)
                part.clear();
        for (std::int64_t k = 0; k < depth; ++k, one += one_stride, other += other_stride) {
            Lanes entries[Parts];
            for (int part = 0; part < Parts; ++part)
                entries[part].load(other + kLanes * part);
            for (int r = 0; r < Tall; ++r)
                for (int part = 0; part < Parts; ++part)
                    of[r][part].add_product(one[r], entries[part]);
        }
    }
};

// out_r = the sum of the lanes of each of four
template <int Bytes>
RECTILINE_INLINE void store_sums(const Lanes<Bytes> (&of)[4], double* out) {
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define RECTILINE_SHUFFLE 1
#endif
#endif
#ifdef RECTILINE_SHUFFLE
    if constexpr (Bytes >= 32) {
        using Half = Register<32>::Doubles;
        Half half[4];
        for (int r = 0; r < 4; ++r) {
            if constexpr (Bytes == 64)
                half[r] = __builtin_shufflevector(of[r].part[0], of[r].part[0], 0, 1, 2, 3) +
                          __builtin_shufflevector(of[r].part[0], of[r].part[0], 4, 5, 6, 7);
            else
                half[r] = of[r].part[0] + of[r].part[1];
        }
        const Half low = __builtin_shufflevector(half[0], half[1], 0, 4, 2, 6) +
                         __builtin_shufflevector(half[0], half[1], 1, 5, 3, 7);
        const Half high = __builtin_shufflevector(half[2], half[3], 0, 4, 2, 6) +
                          __builtin_shufflevector(half[2], half[3], 1, 5, 3, 7);
        const Half sums = __builtin_shufflevector(low, high, 0, 1, 4, 5) +
                          __builtin_shufflevector(low, high, 2, 3, 6, 7);
        std::memcpy(out, &sums, sizeof sums);
        return;
    }
#endif
    for (int r = 0; r < 4; ++r)
        out[r] = ((of[r][0] + of[r][4]) + (of[r][1] + of[r][5])) +
                 ((of[r][2] + of[r][6]) + (of[r][3] + of[r][7]));
}

#ifdef RECTILINE_WIDTHS
template <class Kernel, class... Arguments>
__attribute__((target("arch=x86-64-v4"))) void run_with_64_bytes(Arguments... arguments) {
    Kernel::template run<Lanes<64>>(arguments...);
}
template <class Kernel, class... Arguments>
__attribute__((target("arch=x86-64-v3"))) void run_with_32_bytes(Arguments... arguments) {
    Kernel::template run<Lanes<32>>(arguments...);
}
#endif

// Calls Kernel::run<Lanes>(arguments...), which must be RECTILINE_INLINE, compiled for the
// instruction set of this processor.
template <class Kernel, class... Arguments>
void with_lanes(Arguments... arguments) {
#ifdef RECTILINE_WIDTHS
    if (__builtin_cpu_supports("x86-64-v4")) return run_with_64_bytes<Kernel>(arguments...);
    if (__builtin_cpu_supports("x86-64-v3")) return run_with_32_bytes<Kernel>(arguments...);
#endif
#if !defined(RECTILINE_LANES)
    Kernel::template run<Lanes<8>>(arguments...);
#elif defined(__AVX512F__)
    Kernel::template run<Lanes<64>>(arguments...);
#elif defined(__AVX__)
    Kernel::template run<Lanes<32>>(arguments...);
#else
    Kernel::template run<Lanes<16>>(arguments...);
#endif
}

}  // namespace rectiline::support
