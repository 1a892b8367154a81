// One oneDNN product, written directly against the library: the baseline of the benchmarks.
//
// Weights are packed into the layout that the library prefers, gelu is a post-op, and threads are
// the library's own (OMP_NUM_THREADS). x is [m, k]; the weight is [n, k] as in torch.nn.Linear.
#pragma once

#include <cstdint>
#include <dnnl.hpp>
#include <random>
#include <unordered_map>
#include <vector>

namespace hostir::bench {

inline std::vector<float> random_floats(int64_t count) {
  std::mt19937 random(7);
  std::normal_distribution<float> draw(0.0f, 1.0f);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = draw(random);
  return values;
}

class RawMatmul {
 public:
  RawMatmul(int64_t m, int64_t n, int64_t k, bool bf16, bool gelu) : x_(random_floats(m * k)) {
    using dnnl::memory;
    const auto type = bf16 ? memory::data_type::bf16 : memory::data_type::f32;
    const memory::desc x({m, k}, type, memory::format_tag::ab);
    const memory::desc any({k, n}, type, memory::format_tag::any);
    const memory::desc plain({k, n}, memory::data_type::f32, memory::format_tag::ba);
    const memory::desc y({m, n}, type, memory::format_tag::ab);
    dnnl::primitive_attr attributes;
    if (gelu) {
      dnnl::post_ops ops;
#if DNNL_VERSION_MAJOR >= 3
      ops.append_eltwise(dnnl::algorithm::eltwise_gelu_tanh, 0, 0);
#else
      ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_gelu_tanh, 0, 0);
#endif
      attributes.set_post_ops(ops);
    }
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::matmul::primitive_desc d(engine_, x, any, y, attributes);
#else
    const dnnl::matmul::primitive_desc d(dnnl::matmul::desc(x, any, y), attributes, engine_);
#endif
    primitive_ = dnnl::matmul(d);
    memory from(memory::desc({m, k}, memory::data_type::f32, memory::format_tag::ab), engine_,
                x_.data());
    memory source(x, engine_);
    dnnl::reorder(from, source).execute(stream_, from, source);
    auto w_values = random_floats(n * k);
    memory w(plain, engine_, w_values.data());
    memory packed(d.weights_desc(), engine_);
    dnnl::reorder(w, packed).execute(stream_, w, packed);
    stream_.wait();
    arguments_ = {
        {DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, packed}, {DNNL_ARG_DST, memory(y, engine_)}};
  }
  void run() {
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }

 private:
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::vector<float> x_;
  dnnl::matmul primitive_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

}  // namespace hostir::bench
