#include "kernels/cpu/fast_executor.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/plan/planner.h"
#include "kernels/cpu/reference/reference_executor.h"

namespace hostir::cpu {
namespace {

constexpr int64_t kAlignment = 64;

void copy_bytes(std::byte* to, const std::byte* from, int64_t bytes) {
  if (to != from && bytes > 0) std::memmove(to, from, static_cast<size_t>(bytes));
}

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Offsets of temporaries in one arena; values with disjoint lifetimes may share bytes.
class Arena {
 public:
  Arena(const BoundKernel& kernel, const Plan& plan, const std::vector<bool>& is_external)
      : offsets_(kernel.values.size(), -1) {
    struct Used {
      int first, last;
      int64_t begin, end;
    };
    std::vector<Used> used;
    for (size_t v = 0; v < offsets_.size(); ++v) {
      if (is_external[v] || plan.first_step[v] < 0) continue;
      const int64_t bytes = aligned(kernel.values[v].local_bytes());
      // First fit among the values that are alive at the same time.
      std::vector<std::pair<int64_t, int64_t>> taken;
      for (const Used& u : used) {
        if (u.first < plan.last_step[v] && plan.first_step[v] < u.last) {
          taken.emplace_back(u.begin, u.end);
        }
      }
      std::sort(taken.begin(), taken.end());
      int64_t at = 0;
      for (const auto& [begin, end] : taken) {
        if (begin - at >= bytes) break;
        at = std::max(at, end);
      }
      offsets_[v] = at;
      bytes_ = std::max(bytes_, at + bytes);
      used.push_back({plan.first_step[v], plan.last_step[v], at, at + bytes});
    }
  }
  int64_t bytes() const { return bytes_; }
  int64_t offset(size_t value) const { return offsets_[value]; }

 private:
  std::vector<int64_t> offsets_;
  int64_t bytes_ = 0;
};

class FastExecutor final : public CompiledKernel {
 public:
  explicit FastExecutor(const BoundKernel& kernel) : kernel_(kernel) {}

  Expected<void> create() {
    HOSTIR_ASSIGN_OR_RETURN(plan_, plan_fast(kernel_));
    std::vector<bool> is_external(kernel_.values.size(), false);
    for (const Parameter& parameter : kernel_.function->params) {
      is_external[parameter.value.index] = true;
    }
    for (const Operand& result : returned_values(*kernel_.function)) {
      const uint32_t value = result.value.index;
      // A returned parameter, or a value returned twice, is copied at the end.
      results_.push_back({value, is_external[value]});
      is_external[value] = true;
    }
    arena_.emplace(kernel_, plan_, is_external);
    return {};
  }

  void run(std::span<const ConstMemory> in, std::span<const Memory> out) override {
    std::vector<Memory> values(kernel_.values.size());
    std::vector<uint64_t> versions(values.size(), 0);
    for (size_t p = 0; p < in.size(); ++p) {
      const uint32_t value = kernel_.function->params[p].value.index;
      values[value] = {const_cast<std::byte*>(in[p].data), in[p].bytes};  // steps only read it
      versions[value] = in[p].version;
    }
    const bool is_apart = !must_not_share(in, out);
    int64_t bytes = arena_->bytes();
    for (size_t r = 0; r < out.size(); ++r) {
      if (!results_[r].is_copy) values[results_[r].value] = out[r];
      if (!is_apart) bytes += aligned(out[r].bytes);
    }
    const ScratchPool::Lease lease(scratch_, bytes);
    int64_t at = arena_->bytes();
    for (size_t v = 0; v < values.size(); ++v) {
      if (arena_->offset(v) < 0) continue;
      values[v] = {lease.data() + arena_->offset(v), kernel_.values[v].local_bytes()};
    }
    std::vector<std::byte*> staged(out.size(), nullptr);
    for (size_t r = 0; r < out.size() && !is_apart; ++r) {
      staged[r] = lease.data() + at;
      if (!results_[r].is_copy) values[results_[r].value] = {staged[r], out[r].bytes};
      at += aligned(out[r].bytes);
    }
    const RunContext context{values, versions, scratch_};
    for (const auto& step : plan_.steps) step->run(context);
    // Copy returned parameters before anything is written to their memory.
    for (size_t r = 0; r < out.size() && !is_apart; ++r) {
      copy_bytes(staged[r], values[results_[r].value].data, out[r].bytes);
    }
    for (size_t r = 0; r < out.size(); ++r) {
      copy_bytes(out[r].data, is_apart ? values[results_[r].value].data : staged[r], out[r].bytes);
    }
  }

  void prepack(size_t parameter, ConstMemory data) override {
    if (data.version == 0 || data.bytes == 0) return;
    const uint32_t value = kernel_.function->params[parameter].value.index;
    for (const auto& step : plan_.steps) step->prepack(value, data);
  }

  int64_t packed_bytes() const override {
    int64_t bytes = 0;
    for (const auto& step : plan_.steps) bytes += step->packed_bytes();
    return bytes;
  }

  std::string description() const override {
    std::string text;
    for (const auto& step : plan_.steps) {
      if (!text.empty()) text += "; ";
      text += step->description();
    }
    return text.empty() ? "copy" : text;
  }

 private:
  struct Result {
    uint32_t value;
    bool is_copy;
  };

  /// An output that shares memory with an input is written in place only if each element is read
  /// before it is written and not read afterwards; otherwise it is computed separately and copied.
  bool must_not_share(std::span<const ConstMemory> in, std::span<const Memory> out) const {
    for (const Memory& memory : out) {
      for (const ConstMemory& operand : in) {
        if (!overlaps(operand, memory)) continue;
        const bool is_same = operand.data == memory.data && operand.bytes == memory.bytes;
        if (!is_same || !plan_.is_single_group) return true;
      }
    }
    return false;
  }

  BoundKernel kernel_;
  Plan plan_;
  std::vector<Result> results_;
  std::optional<Arena> arena_;
  ScratchPool scratch_;
};

}  // namespace

Expected<std::unique_ptr<CompiledKernel>> compile_fast(const BoundKernel& kernel) {
  auto executor = std::make_unique<FastExecutor>(kernel);
  HOSTIR_TRY(executor->create());
  return executor;
}

}  // namespace hostir::cpu
