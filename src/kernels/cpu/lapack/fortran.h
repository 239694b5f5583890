// Calls Fortran routines of the bundled OpenBLAS by name. Private to this folder.
#pragma once
#include <complex>
#include <cstddef>
#include <string>
#include <type_traits>

namespace rl::lapack {

void* routine(const std::string& name);  // opens the library at the first call
void sync_threads();                     // OpenBLAS's thread count becomes rl::num_threads()

template <class T> constexpr char kLetter = 'd';
template <> inline constexpr char kLetter<float> = 's';
template <> inline constexpr char kLetter<std::complex<float>> = 'c';
template <> inline constexpr char kLetter<std::complex<double>> = 'z';
template <class T> constexpr bool kComplex = !std::is_floating_point_v<T>;

// The routine of T's type; some have another name for complex types.
template <class T>
void* of(const char* real_name, const char* complex_name = nullptr) {
  return routine(kLetter<T> + std::string(kComplex<T> && complex_name ? complex_name : real_name));
}

// Fortran takes everything by address, and the lengths of strings (here all 1) behind the rest;
// lengths that a routine does not expect are harmless in the C calling convention.
template <class A>
const void* address(const A& a) {
  if constexpr (std::is_pointer_v<A>) return a;
  else return &a;
}
template <class A> using Address = const void*;

template <class... A>
void call(void* f, const A&... args) {
  using Function = void(Address<A>..., size_t, size_t, size_t, size_t);
  sync_threads();
  reinterpret_cast<Function*>(f)(address(args)..., 1, 1, 1, 1);
}

}  // namespace rl::lapack
