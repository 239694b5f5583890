// Element-wise operators: a constant PointwiseOp describes one, run_pointwise executes it.
//
// An operator needs two things, normally both generated from its entry in ops/*.yaml:
//
// 1. In a file compiled once per instruction set (it includes kernels/iter/pointwise_loops.h and
//    the functors), one line in namespace rl::cpu::RL_ISA:
//
//        RL_POINTWISE(add, functor::add_, RL_TYPES(float, double, int64_t), alpha)
//
//    It defines `InnerLoop add_loop(DType)`: the loop of the functor for each compute dtype.
//      - first the operator's name, then the functor template (used as `functor::add_<T>`),
//        then the compute types; 16- and 8-bit floats in the list are ignored (computed in float);
//      - then the functor's members to fill from the attributes, in the order of the attributes:
//        here attrs[0] is stored in the member `alpha`, converted to that member's type.
//    Input types: all T, as many as the functor takes, unless it says `using inputs =
//    TypeList<bool, T, T>`. Output type: what the functor returns for scalars; a std::pair makes
//    two outputs. `vectorized == true` functors are called with Vec<T> (Mask<T> for bool inputs).
//
// 2. In an ordinary file, in namespace rl:
//
//        RL_POINTWISE_DECLARE(add)                       // at namespace rl::cpu: the kernel table
//        constexpr PointwiseOp add_op = {.name = "add", .error_name = "add_stub", .inputs = 2,
//            .dtypes = kAllDTypes, .promote = Promote::Types, .loop = &cpu::add_loop};
//
//    and the native function
//        Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
//          return run_pointwise(add_op, {&self, &other}, &alpha);
//        }
//    `out=` passes the tensor to write, the in-place form passes `&self`.
// tests/cpp/test_pointwise.cpp shows four of them by hand.
#pragma once
#include <initializer_list>

#include "kernels/iter/tensor_iter.h"
#include "kernels/kernel_table.h"

#define RL_POINTWISE_DECLARE(name) RL_KERNEL(::rl::InnerLoop, name##_loop, (::rl::DType))

namespace rl {

enum class Promote : uint8_t {
  Types,    // PyTorch's promotion over all inputs
  ToFloat,  // the same, and integers and bool become the default dtype
  First,    // dtype of the first input
  None      // all inputs must have one dtype
};

enum class Result : uint8_t {
  Same,     // the common dtype
  Bool,
  Real,     // real part's dtype for complex
  Int32,
  Int64
};

// 0 for types that no pointwise operator computes with.
constexpr uint32_t dtype_bit(DType d) { return unsigned(d) < 32 ? 1u << unsigned(d) : 0; }
constexpr uint32_t kIntDTypes = dtype_bit(DType::UInt8) | dtype_bit(DType::Int8) |
                                dtype_bit(DType::Int16) | dtype_bit(DType::Int32) |
                                dtype_bit(DType::Int64);
constexpr uint32_t kUIntDTypes =
    dtype_bit(DType::UInt16) | dtype_bit(DType::UInt32) | dtype_bit(DType::UInt64);
constexpr uint32_t kWideDTypes = dtype_bit(DType::Float) | dtype_bit(DType::Double);
constexpr uint32_t kFloatDTypes = dtype_bit(DType::Half) | dtype_bit(DType::BFloat16) |
                                  dtype_bit(DType::Float) | dtype_bit(DType::Double);
constexpr uint32_t kComplexDTypes =
    dtype_bit(DType::ComplexFloat) | dtype_bit(DType::ComplexDouble);
constexpr uint32_t kComplexHalfDType = dtype_bit(DType::ComplexHalf);
constexpr uint32_t kBoolDType = dtype_bit(DType::Bool);
constexpr uint32_t kFloat8DTypes =
    dtype_bit(DType::Float8_e5m2) | dtype_bit(DType::Float8_e4m3fn) |
    dtype_bit(DType::Float8_e5m2fnuz) | dtype_bit(DType::Float8_e4m3fnuz);
constexpr uint32_t kRealDTypes = kIntDTypes | kFloatDTypes;
constexpr uint32_t kAllDTypes = kRealDTypes | kComplexDTypes | kBoolDType;

struct InputDType {
  DType value = DType::Undefined;
};

struct PointwiseOp {
  const char* name;                  // "add"
  const char* error_name = nullptr;  // in `"add_stub" not implemented for 'Half'`; null: `name`
  uint8_t inputs = 1, outputs = 1;
  uint32_t dtypes = kAllDTypes;      // allowed common dtypes
  Promote promote = Promote::Types;
  Result results[2] = {Result::Same, Result::Same};
  // Inputs with a dtype of their own, outside promotion: where has `.fixed = {DType::Bool}`.
  InputDType fixed[4];
  const cpu::KernelTable<InnerLoop(DType)>* loop = nullptr;
  float cost = 1.0f;                 // of an element, in additions
  // Errors with texts of their own: TypeError for complex numbers, NotImplementedError for bool.
  const char* complex_refusal = nullptr;
  const char* bool_refusal = nullptr;
  bool exact_out = false;            // out= must have the result's dtype
  // Looks at the attributes once the common dtype is known; throws.
  void (*check_attrs)(DType common, const Scalar* attrs) = nullptr;
};

// `out`: null to allocate; the tensor of `out=`; or the first input itself (in-place).
Tensor run_pointwise(const PointwiseOp& op, const Tensor* const* in, int n_in,
                     const Scalar* attrs = nullptr, const Tensor* out = nullptr);
inline Tensor run_pointwise(const PointwiseOp& op, std::initializer_list<const Tensor*> in,
                            const Scalar* attrs = nullptr, const Tensor* out = nullptr) {
  return run_pointwise(op, in.begin(), int(in.size()), attrs, out);
}
// Any number of outputs: `results` holds op.outputs tensors, defined ones are `out=`.
void run_pointwise_into(const PointwiseOp& op, const Tensor* const* in, int n_in,
                        const Scalar* attrs, Tensor* results);

// The common dtype that an operator computes in (before opmath), with its errors.
DType pointwise_dtype(const PointwiseOp& op, const Tensor* const* in, int n_in);

// check_attrs of add and sub: alpha against the result's category.
void check_alpha(DType common, const Scalar* alpha);

}  // namespace rl
