#include "hostir/api/plan_layers.h"

#include <algorithm>
#include <numeric>

namespace hostir::api {

namespace {

// If more layers take less, the fewer ones were lowered differently: the larger count is scaled.
int64_t with_all(int64_t few, int64_t many, const LayerCounts& layers) {
  const auto count = static_cast<int64_t>(layers.all);
  if (many < few) return many * count / static_cast<int64_t>(layers.many);
  const auto added = static_cast<int64_t>(layers.many - layers.few);
  return few + (many - few) * (count - static_cast<int64_t>(layers.few)) / added;
}

// Stretches that agree by chance are shorter.
constexpr size_t kLeastAlike = 16;

// By moment: what was allocated, or freed if negative.
std::vector<int64_t> changes(const std::vector<int64_t>& held) {
  std::vector<int64_t> out(held.size());
  std::adjacent_difference(held.begin(), held.end(), out.begin());
  return out;
}

// The number of moments by which the fewer layers must be moved so that most of them are as in the
// more.
size_t best_shift(const std::vector<int64_t>& few, const std::vector<int64_t>& many) {
  size_t best = 0;
  size_t most = 0;
  for (size_t shift = 0; shift + few.size() <= many.size(); ++shift) {
    size_t alike = 0;
    for (size_t i = 0; i < few.size(); ++i) {
      if (few[i] == many[i + shift]) ++alike;
    }
    if (alike <= most) continue;
    most = alike;
    best = shift;
  }
  return best;
}

// The highest of the moments that both have.
int64_t highest_moment(const std::vector<int64_t>& few, const std::vector<int64_t>& many,
                       const LayerCounts& layers) {
  if (few.size() > many.size()) return 0;
  const std::vector<int64_t> made_by_few = changes(few);
  const std::vector<int64_t> made_by_many = changes(many);
  int64_t highest = 0;
  for (const size_t shift :
       {size_t{0}, best_shift(made_by_few, made_by_many), many.size() - few.size()}) {
    for (size_t begin = 0; begin < few.size();) {
      size_t end = begin;
      while (end < few.size() && made_by_few[end] == made_by_many[end + shift]) ++end;
      for (size_t i = begin; end - begin >= kLeastAlike && i < end; ++i) {
        if (many[i + shift] >= few[i])
          highest = std::max(highest, with_all(few[i], many[i + shift], layers));
      }
      begin = end + 1;
    }
  }
  return highest;
}

}  // namespace

Prediction extrapolated(Prediction few, const Prediction& many, const LayerCounts& layers) {
  Prediction out;
  out.time_ns = with_all(few.time_ns, many.time_ns, layers);
  out.peak_bytes = std::max(with_all(few.peak_bytes, many.peak_bytes, layers),
                            highest_moment(few.live_bytes, many.live_bytes, layers));
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
