#include "kernels/cpu/plan/onednn.h"

#include <algorithm>
#include <dnnl.hpp>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

// From the OpenMP runtime that oneDNN uses; its header is g++'s, and clang does not find it.
extern "C" {
int omp_get_max_threads();
void omp_set_num_threads(int threads);
}

namespace hostir::cpu::onednn {
namespace {

/// While alive, the library uses only the calling thread.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

dnnl::memory::data_type type_of(DType dtype) {
  return dtype == DType::kBF16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

dnnl::memory::desc plain(int64_t rows, int64_t columns, DType dtype, int64_t row, int64_t column) {
  return {{rows, columns}, type_of(dtype), {row, column}};
}

dnnl::matmul::primitive_desc describe(const dnnl::engine& engine, const dnnl::memory::desc& a,
                                      const dnnl::memory::desc& b, const dnnl::memory::desc& c) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if DNNL_VERSION_MAJOR >= 3
  return {engine, a, b, c, attributes};
#else
  return {dnnl::matmul::desc(a, b, c), attributes, engine};
#endif
}

}  // namespace

/// The library's objects for one call at a time. Making them takes longer than a small product.
struct Call {
  Call(const dnnl::engine& engine, const dnnl::matmul::primitive_desc& d)
      : stream(engine),
        a(d.src_desc(), engine, nullptr),
        b(d.weights_desc(), engine, nullptr),
        c(d.dst_desc(), engine, nullptr),
        scratch(d.scratchpad_desc(), engine, nullptr),
        arguments({{DNNL_ARG_SRC, a},
                   {DNNL_ARG_WEIGHTS, b},
                   {DNNL_ARG_DST, c},
                   {DNNL_ARG_SCRATCHPAD, scratch}}) {}

  dnnl::stream stream;
  dnnl::memory a, b, c, scratch;
  std::unordered_map<int, dnnl::memory> arguments;
};

struct Matmul::Parts {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::memory::desc b_plain;
  dnnl::matmul::primitive_desc description;
  dnnl::matmul primitive;
  std::mutex mutex;
  std::vector<std::unique_ptr<Call>> free_calls;  // as many as threads have run at once

  std::unique_ptr<Call> take_call() {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (!free_calls.empty()) {
        std::unique_ptr<Call> call = std::move(free_calls.back());
        free_calls.pop_back();
        return call;
      }
    }
    return std::make_unique<Call>(engine, description);
  }
  void give_call(std::unique_ptr<Call> call) {
    const std::lock_guard<std::mutex> lock(mutex);
    free_calls.push_back(std::move(call));
  }
};

Matmul::Matmul(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Matmul::~Matmul() = default;

std::unique_ptr<Matmul> Matmul::create(const MatmulSpec& spec, Weights weights,
                                       const Matmul* like) {
  const OneThread alone;
  try {
    auto parts = std::make_unique<Parts>();
    const auto a = plain(spec.m, spec.k, spec.dtype, spec.a_row, spec.a_column);
    const auto c = plain(spec.m, spec.n, spec.c_dtype, std::max<int64_t>(spec.n, 1), 1);
    parts->b_plain = plain(spec.k, spec.n, spec.dtype, spec.b_row, spec.b_column);
    dnnl::memory::desc b = parts->b_plain;
    if (weights == Weights::kPacked) {
      b = like != nullptr ? like->parts_->description.weights_desc()
                          : dnnl::memory::desc({spec.k, spec.n}, type_of(spec.dtype),
                                               dnnl::memory::format_tag::any);
    }
    parts->description = describe(parts->engine, a, b, c);
    parts->primitive = dnnl::matmul(parts->description);
    return std::unique_ptr<Matmul>(new Matmul(std::move(parts)));
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

int64_t Matmul::scratch_bytes() const {
  return static_cast<int64_t>(parts_->description.scratchpad_desc().get_size());
}

int64_t Matmul::packed_bytes() const {
  return static_cast<int64_t>(parts_->description.weights_desc().get_size());
}

void Matmul::run(const void* a, const void* b, void* c, std::byte* scratch) const {
  const OneThread alone;
  std::unique_ptr<Call> call = parts_->take_call();
  // The library takes non-const pointers even for operands that it only reads.
  call->a.set_data_handle(const_cast<void*>(a));
  call->b.set_data_handle(const_cast<void*>(b));
  call->c.set_data_handle(c);
  call->scratch.set_data_handle(scratch);
  parts_->primitive.execute(call->stream, call->arguments);
  parts_->give_call(std::move(call));
}

void Matmul::pack(const void* b, void* packed) const {
  const OneThread alone;
  const dnnl::engine& engine = parts_->engine;
  dnnl::stream stream(engine);
  dnnl::memory from(parts_->b_plain, engine, const_cast<void*>(b));
  dnnl::memory to(parts_->description.weights_desc(), engine, packed);
  dnnl::reorder(from, to).execute(stream, from, to);
}

bool has_native_bf16() {
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto wanted = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
  return (isa & wanted) == wanted;
}

}  // namespace hostir::cpu::onednn
