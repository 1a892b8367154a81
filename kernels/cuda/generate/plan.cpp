#include "kernels/cuda/generate/plan.h"

#include <algorithm>

namespace hostir::cuda {
namespace {

constexpr int64_t kAlignment = 256;

struct Lifetime {
  int first = -1;
  int last = -1;
  bool overlaps(const Lifetime& other) const { return first <= other.last && other.first <= last; }
};

std::vector<BufferUse> uses_of(const Step& step) {
  if (const auto* generated = std::get_if<GeneratedStep>(&step)) return generated->uses;
  if (const auto* attention = std::get_if<AttentionStep>(&step)) {
    return {{attention->q.buffer, false, ""},
            {attention->k.buffer, false, ""},
            {attention->v.buffer, false, ""},
            {attention->o.buffer, true, ""}};
  }
  const auto& product = std::get<ProductStep>(step);
  std::vector<BufferUse> uses = {{product.a.buffer, false, ""}, {product.b.buffer, false, ""}};
  if (product.bias >= 0) uses.push_back({product.bias, false, ""});
  // In cuBLASLt c and d may be the same matrix.
  if (product.c.buffer >= 0) uses.push_back({product.c.buffer, false, "c"});
  uses.push_back({product.d.buffer, true, "c"});
  return uses;
}

}  // namespace

const GeneratedStep& generated_part(const Step& step) {
  if (const auto* product = std::get_if<ProductStep>(&step)) return product->plain;
  if (const auto* attention = std::get_if<AttentionStep>(&step)) return attention->shown;
  return std::get<GeneratedStep>(step);
}

void place_temporaries(Plan& plan) {
  std::vector<Lifetime> lives(plan.buffers.size());
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    for (const BufferUse& use : uses_of(plan.steps[s])) {
      Lifetime& life = lives[static_cast<size_t>(use.buffer)];
      if (life.first < 0) life.first = static_cast<int>(s);
      life.last = static_cast<int>(s);
    }
  }
  // Largest first, each at the lowest offset that is free during its lifetime.
  std::vector<size_t> order;
  for (size_t b = 0; b < plan.buffers.size(); ++b) {
    if (plan.buffers[b].kind == Buffer::Kind::kTemporary && lives[b].first >= 0) order.push_back(b);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return plan.buffers[a].bytes > plan.buffers[b].bytes;
  });
  std::vector<size_t> placed;
  for (const size_t b : order) {
    int64_t at = 0;
    bool moved = true;
    while (moved) {
      moved = false;
      for (const size_t other : placed) {
        const Buffer& o = plan.buffers[other];
        const bool apart =
            at + plan.buffers[b].bytes <= o.workspace_offset || o.workspace_offset + o.bytes <= at;
        if (apart || !lives[b].overlaps(lives[other])) continue;
        at = (o.workspace_offset + o.bytes + kAlignment - 1) / kAlignment * kAlignment;
        moved = true;
      }
    }
    plan.buffers[b].workspace_offset = at;
    plan.workspace_bytes = std::max(plan.workspace_bytes, at + plan.buffers[b].bytes);
    placed.push_back(b);
  }
  plan.workspace_bytes = (plan.workspace_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::vector<std::vector<bool>> in_place_pairs(const Plan& plan) {
  std::vector<std::vector<bool>> safe(plan.parameter_count,
                                      std::vector<bool>(plan.result_count, true));
  for (size_t w = 0; w < plan.steps.size(); ++w) {
    for (const BufferUse& write : uses_of(plan.steps[w])) {
      const Buffer& result = plan.buffers[static_cast<size_t>(write.buffer)];
      if (!write.is_write || result.kind != Buffer::Kind::kResult) continue;
      for (size_t r = w; r < plan.steps.size(); ++r) {
        for (const BufferUse& read : uses_of(plan.steps[r])) {
          const Buffer& parameter = plan.buffers[static_cast<size_t>(read.buffer)];
          if (read.is_write || parameter.kind != Buffer::Kind::kParameter) continue;
          const bool together = r == w && !read.walk.empty() && read.walk == write.walk;
          if (!together) safe[parameter.index][result.index] = false;
        }
      }
    }
  }
  return safe;
}

}  // namespace hostir::cuda
