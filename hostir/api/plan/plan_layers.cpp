#include "hostir/api/plan/plan_layers.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

namespace hostir::api {

namespace {

// If more layers take less time, the fewer layers were lowered differently: scales the larger
// count.
int64_t with_all(int64_t few, int64_t many, const LayerCounts& layers) {
  const auto count = static_cast<int64_t>(layers.all);
  if (many < few) return many * count / static_cast<int64_t>(layers.many);
  const auto added = static_cast<int64_t>(layers.many - layers.few);
  return few + (many - few) * (count - static_cast<int64_t>(layers.few)) / added;
}

// Stretches that agree by chance are shorter.
constexpr size_t kLeastAlike = 16;
// A window of this many changes that occurs exactly once in each is not a coincidence.
constexpr size_t kWindow = 12;
constexpr size_t kSeveral = SIZE_MAX;

struct ByContent {
  bool operator()(std::span<const int64_t> a, std::span<const int64_t> b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }
};

// The bytes allocated at each moment; negative if they were freed.
std::vector<int64_t> changes(const std::vector<int64_t>& held) {
  std::vector<int64_t> out(held.size());
  std::adjacent_difference(held.begin(), held.end(), out.begin());
  return out;
}

// By window of kWindow changes: where it begins, or kSeveral. Only the start, the surroundings of
// the loss and the end occur once; all else occurs once per layer.
using Windows = std::map<std::span<const int64_t>, size_t, ByContent>;

Windows windows_of(std::span<const int64_t> changes) {
  Windows out;
  for (size_t i = 0; i + kWindow <= changes.size(); ++i) {
    const auto [at, is_new] = out.try_emplace(changes.subspan(i, kWindow), i);
    if (!is_new) at->second = kSeveral;
  }
  return out;
}

// Pairs moments of the run with few layers with moments of the run with many.
class Moments {
 public:
  Moments(const std::vector<int64_t>& few, const std::vector<int64_t>& many,
          const LayerCounts& layers)
      : few_(few),
        many_(many),
        layers_(layers),
        made_by_few_(changes(few)),
        made_by_many_(changes(many)) {}

  // The highest memory at a moment that both runs have.
  int64_t highest() {
    if (few_.size() > many_.size()) return 0;
    note_all_moved_by(0);
    note_all_moved_by(many_.size() - few_.size());
    const Windows in_few = windows_of(made_by_few_);
    const Windows in_many = windows_of(made_by_many_);
    for (const auto& [window, i] : in_few) {
      const auto same = in_many.find(window);
      if (i != kSeveral && same != in_many.end() && same->second != kSeveral)
        note_around(i, same->second);
    }
    return highest_;
  }

 private:
  bool is_alike(size_t i, size_t j) const { return made_by_few_[i] == made_by_many_[j]; }

  void note(size_t i, size_t j) {
    if (many_[j] >= few_[i]) highest_ = std::max(highest_, with_all(few_[i], many_[j], layers_));
  }

  void note_all_moved_by(size_t shift) {
    for (size_t begin = 0; begin < few_.size();) {
      size_t end = begin;
      while (end < few_.size() && is_alike(end, end + shift)) ++end;
      for (size_t i = begin; end - begin >= kLeastAlike && i < end; ++i) note(i, i + shift);
      begin = end + 1;
    }
  }

  // The whole stretch that is the same before and after these two moments.
  void note_around(size_t i, size_t j) {
    for (size_t back = 1; back <= std::min(i, j) && is_alike(i - back, j - back); ++back)
      note(i - back, j - back);
    for (; i < few_.size() && j < many_.size() && is_alike(i, j); ++i, ++j) note(i, j);
  }

  const std::vector<int64_t>& few_;
  const std::vector<int64_t>& many_;
  const LayerCounts& layers_;
  std::vector<int64_t> made_by_few_;
  std::vector<int64_t> made_by_many_;
  int64_t highest_ = 0;
};

}  // namespace

Prediction extrapolated(Prediction few, const Prediction& many, const LayerCounts& layers) {
  Prediction out;
  out.time_ns = with_all(few.time_ns, many.time_ns, layers);
  out.peak_bytes = std::max(with_all(few.peak_bytes, many.peak_bytes, layers),
                            Moments(few.live_bytes, many.live_bytes, layers).highest());
  const auto all = [&](auto member) {
    return with_all(few.memory.*member, many.memory.*member, layers);
  };
  out.memory = {all(&MemorySplit::parameters),  all(&MemorySplit::inputs),
                all(&MemorySplit::gradients),   all(&MemorySplit::optimizer),
                all(&MemorySplit::activations), all(&MemorySplit::communication)};
  out.times.compute_ns = with_all(few.times.compute_ns, many.times.compute_ns, layers);
  for (const auto& [axes, ns] : many.times.collectives_ns) {
    const auto same = few.times.collectives_ns.find(axes);
    const int64_t before = same == few.times.collectives_ns.end() ? 0 : same->second;
    out.times.collectives_ns[axes] = with_all(before, ns, layers);
  }
  out.collectives = many.collectives;
  for (interp::CollectiveCount& c : out.collectives) {
    const auto same =
        std::find_if(few.collectives.begin(), few.collectives.end(), [&](const auto& f) {
          return f.kind == c.kind && f.reduction == c.reduction && f.over == c.over &&
                 f.bytes == c.bytes && f.tensors == c.tensors;
        });
    c.count = with_all(same == few.collectives.end() ? 0 : same->count, c.count, layers);
  }
  out.shardings = std::move(few.shardings);
  out.homes = std::move(few.homes);
  return out;
}

NamedHomes in_all_layers(NamedHomes homes, const std::map<std::string, std::string>& first) {
  for (auto& [axis, dims] : homes) {
    const auto known = dims;
    for (const auto& [name, same] : first) {
      for (auto at = known.lower_bound({same, 0}); at != known.end() && at->first == same; ++at)
        dims.insert({name, at->second});
    }
  }
  return homes;
}

}  // namespace hostir::api
