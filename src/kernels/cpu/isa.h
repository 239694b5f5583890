// The instruction set of this translation unit. Files in kernels/cpu are compiled once per
// x86-64 level with -DRL_ISA=v2|v3|v4; all their code lives in namespace rl::cpu::RL_ISA so that
// the linker can never exchange a function between levels.
#pragma once

#ifndef RL_ISA
#define RL_ISA generic
#endif

// Force-inlined: bodies that must melt into the loop around them.
#define RL_INLINE inline __attribute__((always_inline))
// One copy per translation unit, called: bodies too long to inline everywhere.
#define RL_NOINLINE __attribute__((noinline))

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define RL_VEC_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define RL_VEC_BYTES 32
#else
#define RL_VEC_BYTES 16
#endif

#if RL_VEC_BYTES >= 32
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // _mm512_undefined_ps(), GCC bug 105593
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#elif defined(__SSE4_1__)
#include <smmintrin.h>
#endif

#if defined(__FMA__)
#define RL_HAS_FMA 1
#else
#define RL_HAS_FMA 0
#endif
