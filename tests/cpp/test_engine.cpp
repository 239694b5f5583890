// The backward engine: order, accumulation, deep and shared graphs, threads, views, errors.
#include <gtest/gtest.h>

#include <thread>

#include "autograd/engine_ops.h"
#include "autograd/forward_mode.h"
#include "autograd/node.h"

namespace rl {
namespace {

using engine_ops::add;
using engine_ops::mul;

Tensor vec(std::initializer_list<float> v, bool grad = false) {
  Tensor t = empty_tensor({int64_t(v.size())}, DType::Float);
  std::copy(v.begin(), v.end(), t.data<float>());
  if (grad) set_requires_grad(t, true);
  return t;
}
Tensor ones(int64_t n) {
  Tensor t = empty_tensor({n}, DType::Float);
  std::fill_n(t.data<float>(), n, 1.f);
  return t;
}
float at(const Tensor& t, int64_t i) { return t.data<float>()[i * t.stride(0)]; }
Tensor part(const Tensor& t, int64_t from, int64_t n) {
  return engine_ops::as_strided(t, {n}, {1}, t.offset() + from);
}
void backward(const Tensor& y, bool keep = false) {
  run_backward({y}, {ones(y.numel())}, {}, {keep, false, true, true});
}
Tensor grad_of(const Tensor& x) { return meta(x).grad; }

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Engine, AccumulatesIntoLeaves) {
  Tensor x = vec({1, 2, 3}, true);
  backward(mul(x, x));
  EXPECT_EQ(at(grad_of(x), 2), 6);
  backward(mul(x, x));
  EXPECT_EQ(at(grad_of(x), 2), 12);
}

TEST(Engine, SharedSubgraphRunsOnce) {
  Tensor x = vec({2}, true);
  Tensor y = mul(x, x);           // 4
  Tensor z = add(mul(y, y), y);   // dz/dy = 9
  backward(z);
  EXPECT_EQ(at(grad_of(x), 0), 36);
}

TEST(Engine, DeepGraph) {
  Tensor x = vec({1}, true), one = vec({1});
  Tensor y = x;
  for (int i = 0; i < 100000; ++i) y = mul(y, one);
  backward(y);
  EXPECT_EQ(at(grad_of(x), 0), 1);
  y.reset();  // 100 000 nodes go without recursion
}

TEST(Engine, DeepGraphReleasedUnused) {
  Tensor x = vec({1}, true), one = vec({1});
  Tensor y = x;
  for (int i = 0; i < 100000; ++i) y = mul(y, one);
}

TEST(Engine, SecondBackward) {
  Tensor x = vec({1, 2}, true);
  Tensor y = mul(x, x);
  backward(y, true);
  backward(y);
  EXPECT_EQ(at(grad_of(x), 1), 8);
  EXPECT_NE(error_of([&] { backward(y); }).find("second time"), std::string::npos);
}

TEST(Engine, GradOfInputs) {
  Tensor x = vec({3}, true), w = vec({5}, true), unused = vec({1}, true);
  Tensor h = mul(x, w);
  Tensor y = mul(h, h);
  auto g = run_backward({y}, {ones(1)}, {x, h, unused}, {false, false, false, true});
  EXPECT_EQ(at(g[0], 0), 150);
  EXPECT_EQ(at(g[1], 0), 30);
  EXPECT_FALSE(g[2].defined());
  EXPECT_FALSE(grad_of(w).defined());
  Tensor z = mul(x, x);
  std::string e = error_of([&] {
    run_backward({z}, {ones(1)}, {unused}, {false, false, false, false});
  });
  EXPECT_NE(e.find("index 0 appears to not have been used"), std::string::npos);
}

TEST(Engine, DoubleBackward) {
  Tensor x = vec({2}, true);
  Tensor y = mul(mul(x, x), x);
  auto g = run_backward({y}, {ones(1)}, {x}, {true, true, false, false});
  auto gg = run_backward({g[0]}, {ones(1)}, {x}, {true, true, false, false});
  auto ggg = run_backward({gg[0]}, {ones(1)}, {x}, {false, false, false, false});
  EXPECT_EQ(at(g[0], 0), 12);
  EXPECT_EQ(at(gg[0], 0), 12);
  EXPECT_EQ(at(ggg[0], 0), 6);
}

TEST(Engine, BroadcastIsSummed) {
  Tensor x = vec({1}, true), y = vec({1, 2, 3});
  backward(mul(x, y));
  EXPECT_EQ(grad_of(x).numel(), 1);
  EXPECT_EQ(at(grad_of(x), 0), 6);
}

struct Scale : GradHook {
  explicit Scale(std::vector<int>* log, int id) : log(log), id(id) {}
  void call(Grads& g) override {
    log->push_back(id);
    g[0] = add(g[0], g[0]);
  }
  std::vector<int>* log;
  int id;
};

TEST(Engine, HookOrder) {
  std::vector<int> log;
  Tensor x = vec({1}, true);
  register_tensor_hook(x, make_intrusive<Scale>(&log, 3));
  Tensor y = mul(x, x);
  retain_grad(y);
  register_tensor_hook(y, make_intrusive<Scale>(&log, 1));
  register_tensor_hook(y, make_intrusive<Scale>(&log, 2));
  backward(y);
  EXPECT_EQ(log, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(at(grad_of(y), 0), 4);   // retained after the other hooks, though registered first
  EXPECT_EQ(at(grad_of(x), 0), 16);
}

// A hook that runs a backward of its own, to a depth that would not fit one stack.
struct Nested : GradHook {
  explicit Nested(int depth) : depth(depth) {}
  void call(Grads&) override {
    if (depth == 0) return;
    GradMode on(true);
    Tensor x = vec({1}, true);
    Tensor y = mul(x, x);
    register_tensor_hook(y, make_intrusive<Nested>(depth - 1));
    backward(y);
  }
  int depth;
};

TEST(Engine, ReentrantToDepth) {
  Tensor x = vec({1}, true);
  Tensor y = mul(x, x);
  register_tensor_hook(y, make_intrusive<Nested>(500));
  backward(y);
  EXPECT_EQ(at(grad_of(x), 0), 2);
}

TEST(Engine, ThreadsShareAGraph) {
  Tensor x = vec({1, 1}, true);
  Tensor y = x;
  for (int i = 0; i < 50; ++i) y = add(mul(y, x), x);
  Tensor z = add(y, y);
  backward(z, true);
  float once = at(grad_of(x), 0);
  meta(x).grad.reset();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i) backward(z, true);
    });
  for (auto& t : threads) t.join();
  EXPECT_FLOAT_EQ(at(grad_of(x), 0), 100 * once);
}

TEST(Engine, ThreadsMakeGraphsOfOneLeaf) {
  Tensor x = vec({1}, true);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) backward(mul(x, x));
    });
  for (auto& t : threads) t.join();
  EXPECT_FLOAT_EQ(at(grad_of(x), 0), 1600);
}

TEST(Views, WriteThroughAView) {
  Tensor x = vec({1, 2, 3, 4}, true);
  Tensor y = mul(x, vec({1, 1, 1, 1}));
  Tensor v = part(y, 1, 2);
  engine_ops::add_into(v, v);  // y = [1, 4, 6, 4]
  EXPECT_EQ(grad_fn(y)->name(), "CopySlices");
  EXPECT_EQ(grad_fn(v)->name(), "AsStridedBackward0");
  backward(mul(y, y));
  EXPECT_EQ(at(grad_of(x), 0), 2);
  EXPECT_EQ(at(grad_of(x), 1), 16);
  EXPECT_EQ(at(grad_of(x), 3), 8);
}

TEST(Views, OlderViewsFollowTheirBase) {
  Tensor x = vec({1, 2}, true), base = vec({5, 5, 5});
  Tensor early = part(base, 0, 2), other = part(base, 1, 2);
  EXPECT_FALSE(early->requires_grad);
  engine_ops::copy_into(other, x);
  EXPECT_TRUE(early->requires_grad);
  backward(early);
  EXPECT_EQ(at(grad_of(x), 0), 1);
  EXPECT_EQ(at(grad_of(x), 1), 0);
}

TEST(Views, Forbidden) {
  Tensor x = vec({1, 2}, true);
  EXPECT_NE(error_of([&] { engine_ops::zero_into(x); }).find("a leaf Variable"), std::string::npos);
  Tensor v = part(x, 0, 1);
  EXPECT_NE(error_of([&] { engine_ops::zero_into(v); }).find("a view of a leaf"),
            std::string::npos);
  Tensor y = mul(x, x), w;
  {
    NoGrad off;
    w = part(y, 0, 1);
  }
  EXPECT_NE(error_of([&] { engine_ops::zero_into(w); }).find("created in no_grad"),
            std::string::npos);
}

TEST(Saved, VersionIsChecked) {
  Tensor x = vec({1, 2}, true), a = vec({3, 4});
  Tensor y = mul(x, a);
  engine_ops::add_into(a, a);
  std::string e = error_of([&] { backward(y); });
  EXPECT_NE(e.find("is at version 1; expected version 0 instead"), std::string::npos) << e;
}

TEST(Forward, ProductRule) {
  int64_t level = enter_dual_level();
  Tensor x = make_dual(vec({3, 4}), vec({1, 10}), level);
  Tensor y = mul(mul(x, x), x);
  Tensor t = forward_grad(y);
  ASSERT_TRUE(t.defined());
  EXPECT_EQ(at(t, 0), 27);
  EXPECT_EQ(at(t, 1), 480);
  EXPECT_FALSE(y->requires_grad);
  exit_dual_level(level);
  EXPECT_FALSE(forward_grad(y).defined());
}

TEST(Forward, OverReverse) {
  Tensor x = vec({3}, true);
  int64_t level = enter_dual_level();
  Tensor d = make_dual(x, vec({1}), level);
  Tensor y = mul(mul(d, d), d);
  auto g = run_backward({y}, {ones(1)}, {x}, {true, true, false, false});
  Tensor t = forward_grad(g[0]);
  ASSERT_TRUE(t.defined());
  EXPECT_EQ(at(t, 0), 18);  // second derivative of x^3
  exit_dual_level(level);
}

}  // namespace
}  // namespace rl
