// Forward-mode differentiation: tensors carry a tangent while a dual level is entered. There is one
// rule for every operator that has a gradient formula (forward_mode.cpp); docs/AUTOGRAD.md explains
// it.
#pragma once
#include <utility>

#include "autograd/node.h"

namespace rl {

int64_t enter_dual_level();           // one level at a time
void exit_dual_level(int64_t level);
bool forward_mode_active();
bool forward_grad_enabled();
void set_forward_grad_enabled(bool on);
Tensor make_dual(const Tensor& primal, const Tensor& tangent, int64_t level);
std::pair<Tensor, Tensor> unpack_dual(const Tensor& t, int64_t level);  // primal, tangent or none

Tensor forward_grad(const Tensor& t);  // undefined: none at the present level
void set_forward_grad(const Tensor& t, const Tensor& tangent);
// A saved output as it is unpacked: its tangent is kept by the node that made it.
Tensor with_node_tangent(const Tensor& t, const Node& owner, uint32_t output_nr);

class ForwardGradOff {                 // RAII: tangents are not propagated inside
 public:
  ForwardGradOff();
  ~ForwardGradOff();

 private:
  bool saved_;
};

}  // namespace rl
