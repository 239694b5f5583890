// The random streams against numbers recorded from PyTorch 2.15 on the CPU: the first values of
// each stream, its last one, and the next draw afterwards (so that as much was drawn).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/parallel.h"
#include "core/generator.h"
#include "core/random_streams.h"

using namespace rl;

namespace {

constexpr uint64_t kSeed = 2024;

template <class T>
double as_double(T x) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
    return double(float(x));
  } else {
    return double(x);
  }
}

// Relative: integers and the 16-bit formats have to be exact, up to the six digits written here.
template <class T>
double tolerance() {
  return std::is_same_v<T, double> ? 1e-14 : std::is_integral_v<T> ? 0 : 5e-6;
}

int64_t next_draw(Generator& g) {
  int32_t x;
  fill_random(g, &x, 1);
  return x;
}

template <class T>
void expect_values(const T* got, const std::vector<double>& want) {
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(as_double(got[i]), want[i], tolerance<T>() * std::fabs(want[i])) << "at " << i;
  }
}

struct Row {
  std::string name;
  std::function<void()> run;
};

// `want`: the first values, and the last one when there are more than that.
template <class T, class F>
Row row(const char* name, int64_t n, F fill, std::vector<double> want, int64_t next) {
  return {name, [=] {
            Generator g(kSeed);
            auto buffer = std::make_unique<T[]>(size_t(n));
            fill(g, buffer.get(), n);
            auto first = want;
            if (int64_t(want.size()) < n) {
              expect_values(&buffer[size_t(n - 1)], {want.back()});
              first.pop_back();
            }
            expect_values(buffer.get(), first);
            EXPECT_EQ(next_draw(g), next);
          }};
}

uint64_t fnv1a(const void* data, size_t size) {
  uint64_t h = 0xcbf29ce484222325;
  for (size_t i = 0; i < size; ++i) {
    h = (h ^ static_cast<const uint8_t*>(data)[i]) * 0x100000001b3;
  }
  return h;
}
uint64_t hash(const std::vector<uint8_t>& v) { return fnv1a(v.data(), v.size()); }

const std::vector<Row> kRows = {
      row<float>("fill_uniform(g, p, n, -2, 3)", 40,
           [](auto& g, auto* p, int64_t n) { fill_uniform(g, p, n, -2, 3); },
           {0.65857935, 2.15633965, 2.85918999, -1.40349579, -1.16548872, 0.81313926}, 1108082838),
      row<float>("fill_normal(g, p, n, 0.3, 1.7)", 15,
           [](auto& g, auto* p, int64_t n) { fill_normal(g, p, n, 0.3, 1.7); },
           {0.231270418, 3.23418665, -1.08386588, 2.63268328, 1.16014016, -0.855584979},
           1929090231),
      row<float>("fill_normal(g, p, n, 0.3, 1.7)", 16,
           [](auto& g, auto* p, int64_t n) { fill_normal(g, p, n, 0.3, 1.7); },
           {-1.78460038, 0.284164816, 2.92132854, -0.491638333, 0.775155187, 1.61599195},
           2035151781),
      row<float>("fill_normal(g, p, n, 0.3, 1.7)", 17,
           [](auto& g, auto* p, int64_t n) { fill_normal(g, p, n, 0.3, 1.7); },
           {-1.78460038, -3.40716386, 0.928923786, 1.00447655, 3.45642233, 0.168003306}, 78801737),
      row<float>("fill_normal(g, p, n, 0.3, 1.7)", 40,
           [](auto& g, auto* p, int64_t n) { fill_normal(g, p, n, 0.3, 1.7); },
           {-1.78460038, 0.284164816, 2.92132854, -0.491638333, 0.775155187, 0.356352627},
           1643716744),
      row<float>("fill_normal_scalar(g, p, n, 0.3, 1.7)", 19,
           [](auto& g, auto* p, int64_t n) {
             fill_normal_scalar(g, p, n, 0.3, 1.7);
           },
           {0.231270418, 3.23418665, -1.08386588, 2.63268328, 1.16014016, -2.99255395},
           1108082838),
      row<float>("fill_exponential(g, p, n, 2.5)", 7,
           [](auto& g, auto* p, int64_t n) { fill_exponential(g, p, n, 2.5); },
           {0.11706569, 0.596136689, 0.163318589, 0.50910008, 0.844139159, 0.196281075},
           770519362),
      row<float>("fill_cauchy(g, p, n, 1, 2)", 7,
           [](auto& g, auto* p, int64_t n) { fill_cauchy(g, p, n, 1, 2); },
           {-0.953701138, 3.33729935, -0.138963223, 2.65390539, 5.99650097, 0.264329851},
           770519362),
      row<float>("fill_log_normal(g, p, n, 0.5, 0.25)", 7,
           [](auto& g, auto* p, int64_t n) {
             fill_log_normal(g, p, n, 0.5, 0.25);
           },
           {1.63214111, 2.53830886, 1.34512949, 2.32342339, 1.87103391, 1.35484469}, 2035151781),
      row<double>("fill_uniform(g, p, n, -2, 3)", 40,
           [](auto& g, auto* p, int64_t n) { fill_uniform(g, p, n, -2, 3); },
           {-0.73136339866306677, 1.8735216587716792, -0.32390881749373923, 1.5996982885536561,
           2.3940210039654199, -0.12778701756884936}, 1804307775),
      row<double>("fill_normal(g, p, n, 0.3, 1.7)", 15,
           [](auto& g, auto* p, int64_t n) { fill_normal(g, p, n, 0.3, 1.7); },
           {0.23127041547199675, 3.2341866043906768, -1.0838658992773029, 2.6326832781074434,
           1.1601401387292483, -0.8555849660965551}, 1929090231),
      row<double>("fill_normal(g, p, n, 0.3, 1.7)", 16,
           [](auto& g, auto* p, int64_t n) { fill_normal(g, p, n, 0.3, 1.7); },
           {-0.89684206146427126, 2.5631398415959414, 1.3443101689536243, -0.87616040965077613,
           1.6794078865894477, 1.519980129055905}, 1929090231),
      row<double>("fill_normal(g, p, n, 0.3, 1.7)", 17,
           [](auto& g, auto* p, int64_t n) { fill_normal(g, p, n, 0.3, 1.7); },
           {-0.89684206146427126, -1.2485536600732023, 1.5352609988233705, 1.5540890494922206,
           0.66182914351865318, 1.4718188320447918}, 1880000397),
      row<double>("fill_normal(g, p, n, 0.3, 1.7)", 40,
           [](auto& g, auto* p, int64_t n) { fill_normal(g, p, n, 0.3, 1.7); },
           {-0.89684206146427126, 2.5631398415959414, 1.3443101689536243, -0.87616040965077613,
           1.6794078865894477, 2.0786696791879202}, 1727026550),
      row<double>("fill_normal_scalar(g, p, n, 0.3, 1.7)", 19,
           [](auto& g, auto* p, int64_t n) {
             fill_normal_scalar(g, p, n, 0.3, 1.7);
           },
           {0.23127041547199675, 3.2341866043906768, -1.0838658992773029, 2.6326832781074434,
           1.1601401387292483, -2.992554047884374}, 1108082838),
      row<double>("fill_exponential(g, p, n, 2.5)", 7,
           [](auto& g, auto* p, int64_t n) { fill_exponential(g, p, n, 2.5); },
           {0.11706568925425948, 0.59613666333391591, 0.16331858695095908, 0.50910007634219145,
           0.84413914638261545, 0.19628107137508349}, 770519362),
      row<double>("fill_cauchy(g, p, n, 1, 2)", 7,
           [](auto& g, auto* p, int64_t n) { fill_cauchy(g, p, n, 1, 2); },
           {-0.95370114271930806, 3.3372994249946042, -0.13896322986027054, 2.65390537366107,
           5.9965010098870817, 0.26432986544514991}, 770519362),
      row<double>("fill_log_normal(g, p, n, 0.5, 0.25)", 7,
           [](auto& g, auto* p, int64_t n) {
             fill_log_normal(g, p, n, 0.5, 0.25);
           },
           {1.6321410951357369, 2.5383087938058857, 1.3451295241894505, 2.3234233002128573,
           1.8710339581723343, 1.3548447339071881}, 2035151781),
      row<half>("fill_uniform(g, p, n, -2, 3)", 40,
           [](auto& g, auto* p, int64_t n) { fill_uniform(g, p, n, -2, 3); },
           {0.658691, 2.15625, 2.85938, -1.40332, -1.16504, 0.812988}, 1108082838),
      row<half>("fill_normal(g, p, n, 0.3, 1.7)", 15,
           [](auto& g, auto* p, int64_t n) { fill_normal(g, p, n, 0.3, 1.7); },
           {0.231323, 3.23438, -1.08398, 2.63281, 1.16016, -0.855469}, 1929090231),
      row<half>("fill_normal(g, p, n, 0.3, 1.7)", 16,
           [](auto& g, auto* p, int64_t n) { fill_normal(g, p, n, 0.3, 1.7); },
           {-1.78418, 0.28418, 2.92188, -0.491699, 0.775391, 1.61621}, 2035151781),
      row<half>("fill_normal(g, p, n, 0.3, 1.7)", 17,
           [](auto& g, auto* p, int64_t n) { fill_normal(g, p, n, 0.3, 1.7); },
           {-1.78418, 0.510254, -3.40625, 0.928711, 1.00488, 1.37793}, 1929090231),
      row<half>("fill_normal(g, p, n, 0.3, 1.7)", 40,
           [](auto& g, auto* p, int64_t n) { fill_normal(g, p, n, 0.3, 1.7); },
           {-1.78418, 0.28418, 2.92188, -0.491699, 0.775391, -0.108459}, 1211889974),
      row<half>("fill_normal_scalar(g, p, n, 0.3, 1.7)", 19,
           [](auto& g, auto* p, int64_t n) {
             fill_normal_scalar(g, p, n, 0.3, 1.7);
           },
           {0.231323, 3.23438, -1.08398, 2.63281, 1.16016, -2.99219}, 1108082838),
      row<half>("fill_exponential(g, p, n, 2.5)", 7,
           [](auto& g, auto* p, int64_t n) { fill_exponential(g, p, n, 2.5); },
           {0.117065, 0.596191, 0.16333, 0.509277, 0.844238, 0.196289}, 770519362),
      row<half>("fill_cauchy(g, p, n, 1, 2)", 7,
           [](auto& g, auto* p, int64_t n) { fill_cauchy(g, p, n, 1, 2); },
           {-0.953613, 3.33789, -0.138916, 2.6543, 5.99609, 0.264404}, 770519362),
      row<half>("fill_log_normal(g, p, n, 0.5, 0.25)", 7,
           [](auto& g, auto* p, int64_t n) {
             fill_log_normal(g, p, n, 0.5, 0.25);
           },
           {1.63184, 2.53906, 1.34473, 2.32422, 1.87109, 1.35449}, 2035151781),
      row<bfloat16>("fill_uniform(g, p, n, -2, 3)", 40,
           [](auto& g, auto* p, int64_t n) { fill_uniform(g, p, n, -2, 3); },
           {0.660156, 2.15625, 2.85938, -1.40625, -1.16406, 0.8125}, 1108082838),
      row<bfloat16>("fill_normal(g, p, n, 0.3, 1.7)", 15,
           [](auto& g, auto* p, int64_t n) {
             fill_normal(g, p, n, 0.3, 1.7);
           },
           {0.231445, 3.23438, -1.08594, 2.625, 1.15625, -0.855469}, 1929090231),
      row<bfloat16>("fill_normal(g, p, n, 0.3, 1.7)", 16,
           [](auto& g, auto* p, int64_t n) {
             fill_normal(g, p, n, 0.3, 1.7);
           },
           {-1.78125, 0.283203, 2.92188, -0.492188, 0.773438, 1.61719}, 2035151781),
      row<bfloat16>("fill_normal(g, p, n, 0.3, 1.7)", 17,
           [](auto& g, auto* p, int64_t n) {
             fill_normal(g, p, n, 0.3, 1.7);
           },
           {-1.78125, 0.511719, -3.40625, 0.929688, 1.00781, 1.375}, 1929090231),
      row<bfloat16>("fill_normal(g, p, n, 0.3, 1.7)", 40,
           [](auto& g, auto* p, int64_t n) {
             fill_normal(g, p, n, 0.3, 1.7);
           },
           {-1.78125, 0.283203, 2.92188, -0.492188, 0.773438, -0.108398}, 1211889974),
      row<bfloat16>("fill_normal_scalar(g, p, n, 0.3, 1.7)", 19,
           [](auto& g, auto* p, int64_t n) {
             fill_normal_scalar(g, p, n, 0.3, 1.7);
           },
           {0.231445, 3.23438, -1.08594, 2.625, 1.15625, -3}, 1108082838),
      row<bfloat16>("fill_exponential(g, p, n, 2.5)", 7,
           [](auto& g, auto* p, int64_t n) { fill_exponential(g, p, n, 2.5); },
           {0.117188, 0.597656, 0.163086, 0.507812, 0.84375, 0.196289}, 770519362),
      row<bfloat16>("fill_cauchy(g, p, n, 1, 2)", 7,
           [](auto& g, auto* p, int64_t n) { fill_cauchy(g, p, n, 1, 2); },
           {-0.953125, 3.34375, -0.138672, 2.65625, 6, 0.263672}, 770519362),
      row<bfloat16>("fill_log_normal(g, p, n, 0.5, 0.25)", 7,
           [](auto& g, auto* p, int64_t n) {
             fill_log_normal(g, p, n, 0.5, 0.25);
           },
           {1.63281, 2.53125, 1.34375, 2.32812, 1.86719, 1.35156}, 2035151781),
      row<float>("fill_geometric(g, p, n, 0.2)", 7,
           [](auto& g, auto* p, int64_t n) { fill_geometric(g, p, n, 0.2); },
           {7, 2, 5, 2, 1, 5}, 770519362),
      row<int64_t>("fill_geometric(g, p, n, 0.2)", 7,
           [](auto& g, auto* p, int64_t n) { fill_geometric(g, p, n, 0.2); },
           {7, 2, 5, 2, 1, 5}, 770519362),
      row<bool>("fill_random(g, p, n)", 6,
           [](auto& g, auto* p, int64_t n) { fill_random(g, p, n); },
           {0, 0, 0, 0, 1, 0}, 188156350),
      row<uint8_t>("fill_random(g, p, n)", 6,
           [](auto& g, auto* p, int64_t n) { fill_random(g, p, n); },
           {136, 250, 96, 128, 27, 36}, 188156350),
      row<int8_t>("fill_random(g, p, n)", 6,
           [](auto& g, auto* p, int64_t n) { fill_random(g, p, n); },
           {8, 122, 96, 0, 27, 36}, 188156350),
      row<int16_t>("fill_random(g, p, n)", 6,
           [](auto& g, auto* p, int64_t n) { fill_random(g, p, n); },
           {7816, 19962, 19040, 2688, 14875, 30244}, 188156350),
      row<int32_t>("fill_random(g, p, n)", 6,
           [](auto& g, auto* p, int64_t n) { fill_random(g, p, n); },
           {378019464, 1104465402, 855165536, 1025411712, 808106523, 408516132}, 188156350),
      row<int64_t>("fill_random(g, p, n)", 6,
           [](auto& g, auto* p, int64_t n) { fill_random(g, p, n); },
           {1623581238383398394.0, 3672908012959206016.0, 3470791090525271588.0,
           808125373620338871.0, 3781932052278922367.0, 1956514700507218236.0}, 975988963),
      row<float>("fill_random(g, p, n)", 6,
           [](auto& g, auto* p, int64_t n) { fill_random(g, p, n); },
           {8920562, 13946169, 16304558, 2001347, 2800107, 5862796}, 188156350),
      row<double>("fill_random(g, p, n)", 6,
           [](auto& g, auto* p, int64_t n) { fill_random(g, p, n); },
           {2285372530018630, 6977916279620841, 3019377449989283, 6484639948390494,
           7915564542446300, 1952462228422755}, 975988963),
      row<half>("fill_random(g, p, n)", 6,
           [](auto& g, auto* p, int64_t n) { fill_random(g, p, n); },
           {2015, 1640, 1555, 419, 1413, 1367}, 188156350),
      row<bfloat16>("fill_random(g, p, n)", 6,
           [](auto& g, auto* p, int64_t n) { fill_random(g, p, n); },
           {92, 64, 221, 88, 92, 112}, 188156350),
      row<uint8_t>("fill_random_range(g, p, n, 3, 97)", 6,
           [](auto& g, auto* p, int64_t n) {
             fill_random_range(g, p, n, 3, 97);
           },
           {57, 94, 25, 46, 11, 22}, 188156350),
      row<int64_t>("fill_random_range(g, p, n, 3, 97)", 6,
           [](auto& g, auto* p, int64_t n) {
             fill_random_range(g, p, n, 3, 97);
           },
           {57, 94, 25, 46, 11, 22}, 188156350),
      row<float>("fill_random_range(g, p, n, 3, 97)", 6,
           [](auto& g, auto* p, int64_t n) {
             fill_random_range(g, p, n, 3, 97);
           },
           {57, 94, 25, 46, 11, 22}, 188156350),
      row<bfloat16>("fill_random_range(g, p, n, 3, 97)", 6,
           [](auto& g, auto* p, int64_t n) {
             fill_random_range(g, p, n, 3, 97);
           },
           {57, 94, 25, 46, 11, 22}, 188156350),
      row<uint16_t>("fill_random_range(g, p, n, 3, 97)", 6,
           [](auto& g, auto* p, int64_t n) {
             fill_random_range(g, p, n, 3, 97);
           },
           {57, 94, 25, 46, 11, 22}, 188156350),
      row<int64_t>("fill_random_range(g, p, n, -5LL, 268435455ULL)", 6,
           [](auto& g, auto* p, int64_t n) {
             fill_random_range(g, p, n, -5LL, 268435455ULL);
           },
           {109584012, 30723585, 49859174, 220105350, 2800153, 140080680}, 188156350),
      row<int64_t>("fill_random_range(g, p, n, -5LL, 268435456ULL)", 6,
           [](auto& g, auto* p, int64_t n) {
             fill_random_range(g, p, n, -5LL, 268435456ULL);
           },
           {30723573, 220105339, 140080671, 77512882, 213896314, 160432439}, 975988963),
      row<int64_t>("fill_random_range(g, p, n, 0LL, 4294967296ULL)", 6,
           [](auto& g, auto* p, int64_t n) {
             fill_random_range(g, p, n, 0LL, 4294967296ULL);
           },
           {3251949050.0, 3172895360.0, 2555999780.0, 3835609271.0, 4240428159.0, 160432444},
           975988963),
      row<int64_t>("fill_random_range(g, p, n, -4611686018427387904LL, 4611686018427387904ULL)", 6,
           [](auto& g, auto* p, int64_t n) {
             fill_random_range(g, p, n, -4611686018427387904LL, 4611686018427387904ULL);
           },
           {-2988104780043989510.0, -938778005468181888.0, -1140894927902116316.0,
           -3803560644807049033.0, -829753966148465537.0, -2655171317920169668.0}, 975988963),
      row<int64_t>("fill_random_range(g, p, n, INT64_MIN, 0)", 6,
           [](auto& g, auto* p, int64_t n) {
             fill_random_range(g, p, n, INT64_MIN, 0);
           },
           {-7599790798471377414.0, -5550464023895569792.0, 3470791090525271588.0,
           808125373620338871.0, 3781932052278922367.0, 1956514700507218236.0}, 975988963),
      row<int64_t>("fill_randperm(g, p, n)", 100,
           [](auto& g, auto* p, int64_t n) { fill_randperm(g, p, n); },
           {12, 21, 40, 46, 31, 54}, 949412236),
      row<uint8_t>("fill_randperm(g, p, n)", 100,
           [](auto& g, auto* p, int64_t n) { fill_randperm(g, p, n); },
           {12, 21, 40, 46, 31, 54}, 949412236),
      row<float>("fill_randperm(g, p, n)", 100,
           [](auto& g, auto* p, int64_t n) { fill_randperm(g, p, n); },
           {12, 21, 40, 46, 31, 54}, 949412236),
      row<bool>("fill_bernoulli(g, p, n, 0.3)", 12,
           [](auto& g, auto* p, int64_t n) { fill_bernoulli(g, p, n, 0.3); },
           {1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0}, 440013151),
      row<float>("fill_bernoulli(g, p, n, 0.3)", 12,
           [](auto& g, auto* p, int64_t n) { fill_bernoulli(g, p, n, 0.3); },
           {1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0}, 440013151),
};

TEST(RandomStreams, RecordedNumbers) {
  for (const Row& r : kRows) {
    SCOPED_TRACE(r.name);
    r.run();
  }
}

TEST(Generator, SeedsAndDraws) {
  Generator g(0);
  EXPECT_EQ(g.random(), 2357136044u);
  EXPECT_EQ(g.random(), 2546248239u);
  g.manual_seed(0);
  EXPECT_EQ(g.random64(), (uint64_t(2357136044u) << 32) | 2546248239u);
  // Only the low 32 bits of a seed choose the stream, but all 64 are remembered.
  g.manual_seed(uint64_t(-1));
  EXPECT_EQ(g.initial_seed(), uint64_t(-1));
  uint32_t first = g.random();
  g.manual_seed(0xffffffffu);
  EXPECT_EQ(g.random(), first);
  EXPECT_EQ(Generator().initial_seed(), 67280421310721u);
  uint64_t seed = g.seed();
  EXPECT_EQ(seed, g.initial_seed());
  int64_t wide[2];
  g.manual_seed(kSeed);
  fill_random(g, wide, 2);
  EXPECT_EQ(wide[0], 1623581238383398394);
  EXPECT_EQ(wide[1], 3672908012959206016);
}

TEST(Generator, BulkEqualsSingle) {
  Generator a(3), b(3);
  std::vector<uint32_t> bulk(5000);
  int64_t at = 0;
  for (int64_t n : {1, 623, 0, 2, 624, 1250, 2500}) {
    a.random_block(bulk.data() + at, n);
    at += n;
  }
  for (uint32_t x : bulk) ASSERT_EQ(x, b.random());
}

TEST(Generator, StateBytes) {
  Generator g(7);
  EXPECT_EQ(hash(g.get_state()), 0x7f4ed5c44183ee68u);
  std::vector<float> x(1000);
  fill_uniform(g, x.data(), 1000, 0, 1);
  fill_normal(g, x.data(), 3, 0, 1);
  std::vector<uint8_t> state = g.get_state();
  EXPECT_EQ(hash(state), 0xa9e2a2c66196ac07u);

  auto copy = g.clone();
  fill_normal(g, x.data(), 3, 0, 1);
  std::vector<float> y(3);
  fill_normal(*copy, y.data(), 3, 0, 1);
  EXPECT_EQ(std::vector<float>(x.begin(), x.begin() + 3), y);
  EXPECT_EQ(g.get_state(), copy->get_state());
  g.set_state(state);
  EXPECT_EQ(g.get_state(), state);
}

TEST(Generator, BadStates) {
  Generator g(1);
  auto state = g.get_state();
  auto rejects = [&](int at, uint8_t value) {
    auto bad = state;
    bad[at] = value;
    EXPECT_THROW(g.set_state(bad), Error) << "byte " << at;
  };
  rejects(8, 0);        // nothing left, not even to refill
  rejects(9, 3);        // more words left than there are
  rejects(12, 0);       // not seeded
  rejects(17, 3);       // next word out of range
  rejects(20, 1);
  auto past_end = state;
  past_end[8] = 200;
  past_end[16] = 0x70, past_end[17] = 2;  // 199 words from 624
  EXPECT_THROW(g.set_state(past_end), Error);
  EXPECT_THROW(g.set_state(state.data(), 5048), Error);
  EXPECT_EQ(g.get_state(), state);
}

TEST(RandomStreams, WholeBuffersToTheBit) {
  constexpr int64_t n = 10007;
  std::vector<float> f(n);
  std::vector<double> d(n);
  std::vector<uint8_t> u8(n);
  std::vector<int64_t> i64(n);
  Generator g(7);
  fill_uniform(g, f.data(), n, 0, 1);
  EXPECT_EQ(fnv1a(f.data(), n * 4), 0x68e9e1a8671c322eu);
  g.manual_seed(7);
  fill_uniform(g, d.data(), n, 0, 1);
  EXPECT_EQ(fnv1a(d.data(), n * 8), 0xbaee0247a45ceb87u);
  g.manual_seed(7);
  fill_normal(g, f.data(), n, 0, 1);
  EXPECT_EQ(fnv1a(f.data(), n * 4), 0x1dc2949129f7a6fau);
  g.manual_seed(7);
  fill_bernoulli(g, u8.data(), n, 0.3);
  EXPECT_EQ(fnv1a(u8.data(), n), 0x202208ab2c809243u);
  g.manual_seed(7);
  fill_random_range(g, i64.data(), n, 0, 1000);
  EXPECT_EQ(fnv1a(i64.data(), n * 8), 0x49b3cc263ca8a53bu);
  g.manual_seed(7);
  fill_randperm(g, i64.data(), n);
  EXPECT_EQ(fnv1a(i64.data(), n * 8), 0xdfc7d0b46feff633u);
}

TEST(RandomStreams, IndependentOfThreads) {
  constexpr int64_t n = 300001;
  std::vector<float> one(n), many(n);
  std::vector<double> done(n), dmany(n);
  int threads = num_threads();
  for (auto [count, f, d] : {std::tuple(1, &one, &done), std::tuple(4, &many, &dmany)}) {
    set_num_threads(count);
    Generator g(5);
    fill_normal(g, f->data(), n, 0, 1);
    fill_exponential(g, f->data(), n / 2, 1);
    fill_normal(g, d->data(), n, 0, 1);
  }
  set_num_threads(threads);
  EXPECT_EQ(one, many);
  EXPECT_EQ(done, dmany);
}

TEST(RandomStreams, HalfOpenInterval) {
  Generator g(1);
  std::vector<float> f(100000);
  fill_uniform(g, f.data(), 100000, 1, 1 + 0x1p-20);
  for (float x : f) ASSERT_TRUE(x >= 1 && x < 1 + 0x1p-20f);
  std::vector<bfloat16> b(100000);
  fill_uniform(g, b.data(), 100000, 0, 1);
  for (bfloat16 x : b) ASSERT_TRUE(float(x) >= 0 && float(x) < 1);
}

TEST(RandomStreams, SnappedBounds) {
  struct {
    int64_t from, to;
    std::vector<double> want;
    int64_t next;
  } cases[] = {
      {0, 268435455, {109584152, 30723770, 49859344, 220105520}, 808106523},
      {0, 268435456, {109584152, 30723770, 49859344, 220105520}, 808106523},
      {5, 2147483648, {725953152, 866227200, 616499904, 198110496}, 880549673},
      {33554433, 67108865, {42475372, 64278304, 49859440, 52333472}, 808106523},
      {-67108867, -33554435, {-58188156, -36385288, -50804132, -48330116}, 808106523},
  };
  for (auto& c : cases) {
    Generator g(kSeed);
    int64_t from = c.from, to = c.to;
    snap_random_bounds<float>(from, to);
    float out[4];
    fill_random_range(g, out, 4, from, uint64_t(to) - uint64_t(from));
    for (int i = 0; i < 4; ++i) EXPECT_EQ(out[i], c.want[size_t(i)]);
    EXPECT_EQ(next_draw(g), c.next);
  }
}

// ---- from parameters

template <class T>
struct Parameters {
  std::vector<T> rates{T(.2), T(.9), T(1.5), 4, 12, 80, 3000};
  std::vector<T> probs{0, T(.1), T(.3), T(.5), T(.7), T(.9), 1};
};

template <class T, class F>
void expect_sampled(F sample, std::vector<double> want, int64_t next) {
  Generator g(kSeed);
  std::vector<T> out(want.size());
  sample(g, out.data());
  expect_values(out.data(), want);
  EXPECT_EQ(next_draw(g), next);
}

template <class T>
void test_counts() {
  Parameters<T> p;
  std::vector<T> thousand(7, 1000), nine(7, 9);
  auto poisson = [&](Generator& g, T* o) { sample_poisson(g, o, p.rates.data(), 7); };
  expect_sampled<T>(poisson, {0, 1, 2, 3, 7, 89, 3020}, 1929090231);
  auto many = [&](Generator& g, T* o) {
    sample_binomial(g, o, thousand.data(), p.probs.data(), 7);
  };
  expect_sampled<T>(many, {0, 93, 293, 521, 705, 902, 1000}, 82063727);
  auto few = [&](Generator& g, T* o) { sample_binomial(g, o, nine.data(), p.probs.data(), 7); };
  expect_sampled<T>(few, {0, 0, 4, 3, 8, 7, 9}, 457970742);
}

TEST(RandomStreams, PoissonAndBinomial) {
  test_counts<float>();
  test_counts<double>();
  Generator g(1);
  double bad = -1, nan = std::nan(""), half_p = 0.3, out;
  EXPECT_THROW(sample_poisson(g, &out, &bad, 1), Error);
  EXPECT_THROW(sample_poisson(g, &out, &nan, 1), Error);
  sample_binomial(g, &out, &nan, &half_p, 1);
  EXPECT_TRUE(std::isnan(out));
}

TEST(RandomStreams, GammaAndDirichlet) {
  Parameters<double> p;
  auto gamma = [&](Generator& g, double* o) { sample_standard_gamma(g, o, p.rates.data(), 7); };
  expect_sampled<double>(gamma,
                         {0.23223907496997886, 0.066512510868373245, 0.50743431799434735,
                          5.1004864613131824, 13.833069732320718, 85.571088156327534,
                          2962.5907834771365},
                         967888742);
  auto point = [&](Generator& g, double* o) { sample_dirichlet(g, o, p.rates.data(), 1, 7); };
  expect_sampled<double>(point,
                         {7.5699648883964282e-05, 2.1680131647861475e-05, 0.00016540110534289502,
                          0.0016625326048544263, 0.0045089678464291004, 0.027892383436724028,
                          0.96567333522611765},
                         967888742);
  Parameters<float> f;
  auto single = [&](Generator& g, float* o) { sample_standard_gamma(g, o, f.rates.data(), 7); };
  expect_sampled<float>(single,
                        {0.232239082, 0.0665125027, 0.507434309, 5.10048676, 13.8330698,
                         85.5710831, 2962.59082},
                        967888742);
}

TEST(RandomStreams, BernoulliOfProbabilities) {
  Parameters<float> f;
  Parameters<double> d;
  auto single = [&](Generator& g, float* o) { fill_bernoulli(g, o, f.probs.data(), 7); };
  expect_sampled<float>(single, {0, 0, 0, 1, 1, 1, 1}, 1688125623);
  auto both = [&](Generator& g, double* o) { fill_bernoulli(g, o, d.probs.data(), 7); };
  expect_sampled<double>(both, {0, 0, 0, 0, 0, 1, 1}, 770519362);
  Generator g(1);
  double bad = 1.5, out;
  EXPECT_THROW(fill_bernoulli(g, &out, &bad, 1), Error);
}

template <class T>
void test_multinomial() {
  const T w[] = {T(.1), T(.2), T(.3), T(.4), 4, 0, 1, 2};
  auto expect = [&](int64_t samples, bool replacement, std::vector<int64_t> want, int64_t next) {
    Generator g(kSeed);
    std::vector<int64_t> out(want.size());
    sample_multinomial(g, out.data(), w, 2, 4, samples, replacement);
    EXPECT_EQ(out, want);
    EXPECT_EQ(next_draw(g), next);
  };
  expect(1, false, {2, 3}, 2035151781);
  expect(1, true, {2, 3}, 2035151781);
  expect(3, false, {2, 0, 3, 3, 2, 0}, 2035151781);
  expect(5, true, {1, 3, 2, 3, 3, 0, 0, 0, 0, 0}, 82063727);
}

TEST(RandomStreams, Multinomial) {
  test_multinomial<float>();
  test_multinomial<double>();
  Generator g(1);
  int64_t out[2];
  for (float x : {-1.0f, std::nanf(""), INFINITY}) {
    float w[] = {1, x};
    EXPECT_THROW(sample_multinomial(g, out, w, 1, 2, 1, false), Error);
    EXPECT_THROW(sample_multinomial(g, out, w, 1, 2, 2, true), Error);
  }
  float zeros[] = {0, 0};
  EXPECT_THROW(sample_multinomial(g, out, zeros, 1, 2, 1, false), Error);
  EXPECT_THROW(sample_multinomial(g, out, zeros, 1, 2, 2, true), Error);
}

TEST(RandomStreams, Rrelu) {
  std::vector<float> x(7), noise(7), out(7);
  for (int i = 0; i < 7; ++i) x[size_t(i)] = float(i - 3) / 3;
  x[3] = 0;
  Generator g(kSeed);
  sample_rrelu(g, out.data(), noise.data(), x.data(), 7, 0.125, 1.0 / 3);
  expect_values(noise.data(), {0.177859858, 0.286396742, 0.194837138, 0.274987429, 1, 1, 1});
  expect_values(out.data(), {-0.177859858, -0.190931156, -0.0649457052, 0, 1. / 3, 2. / 3, 1});
  EXPECT_EQ(next_draw(g), 880549673);
}

// ---- what initialisers and complex tensors draw

TEST(RandomStreams, LinearLayer) {  // nn.Linear(5, 3): weight, then bias, in +-1/sqrt(5)
  Generator g(0);
  float weight[15], bias[3];
  double bound = 1 / std::sqrt(5.0);
  fill_uniform(g, weight, 15, -bound, bound);
  fill_uniform(g, bias, 3, -bound, bound);
  expect_values(weight, {-0.0033482078, 0.239904866, -0.36807698, -0.329121947, -0.172246262,
                         0.119923614, -0.00886072312, 0.354590952, -0.0396875441, 0.118338332,
                         -0.1351538, -0.0879067108, -0.427244842, -0.29618156, -0.184351772});
  expect_values(bias, {0.0165663883, 0.176799268, 0.268338352});
}

TEST(RandomStreams, TruncatedNormal) {  // nn.init.trunc_normal_: redraws the whole buffer
  Generator g(0);
  float x[8], again[8];
  fill_normal(g, x, 8, 0, 1);
  EXPECT_LT(x[2], -2);
  fill_normal(g, again, 8, 0, 1);
  x[2] = again[2];
  expect_values(x, {1.54099607, -0.293428898, -0.596635342, 0.568431258, -1.08452237, -1.39859545,
                    0.403346837, 0.838026345});
}

TEST(RandomStreams, ComplexNormal) {  // randn of 9 complex numbers: 18 reals of variance 1/2
  Generator g(kSeed);
  float z[18];
  fill_normal(g, z, 18, 0, 1 / std::sqrt(2.0));
  expect_values(z, {-0.867079437, -0.00658657169, 0.261597782, 0.293023616});
  EXPECT_EQ(next_draw(g), 967888742);
}

TEST(Generator, ThreadsShareOneStream) {
  Generator g(9), alone(9);
  std::vector<std::vector<int32_t>> parts(4, std::vector<int32_t>(5000));
  std::vector<std::thread> threads;
  for (auto& p : parts) {
    threads.emplace_back([&] { fill_random(g, p.data(), int64_t(p.size())); });
  }
  for (auto& t : threads) t.join();
  std::vector<int32_t> all(20000);
  fill_random(alone, all.data(), 20000);
  int64_t got = 0, want = std::accumulate(all.begin(), all.end(), int64_t(0));
  for (auto& p : parts) got = std::accumulate(p.begin(), p.end(), got);
  EXPECT_EQ(got, want);
  EXPECT_EQ(g.get_state(), alone.get_state());
}

}  // namespace
