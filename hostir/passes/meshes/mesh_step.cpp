#include "hostir/passes/meshes/mesh_step.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace hostir {

namespace {

// The box of each rank of a communicator under a sharding.
struct Holding {
  std::vector<Box> boxes;        // by index into the ranks; empty outside the mesh
  std::vector<int64_t> addends;  // which addend of a partial value; -1: outside the mesh
  std::vector<bool> roots;       // is_partial_root()
};

Holding holding(const Mesh& mesh, const Sharding& sharding, const Extents& extents,
                const std::vector<int64_t>& ranks) {
  Holding out;
  Box nothing = Box::whole(extents);
  nothing.hi = nothing.lo;
  out.boxes.assign(ranks.size(), nothing);
  out.addends.assign(ranks.size(), -1);
  out.roots.assign(ranks.size(), false);
  for (int64_t p = 0; p < mesh.size(); ++p) {
    const auto at = std::lower_bound(ranks.begin(), ranks.end(), mesh.rank_at(p));
    if (at == ranks.end() || *at != mesh.rank_at(p)) continue;
    const auto index = static_cast<size_t>(at - ranks.begin());
    out.boxes[index] = shard_box(mesh, sharding, extents, p);
    int64_t addend = 0;
    for (const AxisRef& axis : sharding.unreduced) {
      addend = addend * mesh.axis_size(axis) + mesh.coord(p, axis);
    }
    out.addends[index] = addend;
    out.roots[index] = is_partial_root(mesh, sharding, p);
  }
  return out;
}

class Crossing {
 public:
  Crossing(const Mesh& a, const Mesh& b, const Shape& shape, const Sharding& from,
           const Sharding& to)
      : from_(from),
        to_(to),
        addends_before_(part_count(a, from.unreduced)),
        addends_after_(part_count(b, to.unreduced)),
        ranks_(joined_ranks(a, b)) {
    for (const Extents& extents : sample_extents(shape)) {
      samples_.push_back({holding(a, from, extents, ranks_), holding(b, to, extents, ranks_),
                          Box::whole(extents).volume()});
    }
  }

  std::optional<RedistributeStep> make() const {
    if (from_.is_partial() && !to_.is_partial()) {
      const auto root = one_reader();
      if (!root) return std::nullopt;
      RedistributeStep s = step(StepKind::kReduce, ranks_);
      s.root = static_cast<int64_t>(*root);
      return s;
    }
    if (from_.is_partial() && from_.unreduced_kind != to_.unreduced_kind) return std::nullopt;
    if (from_.is_partial() && addends_before_ != addends_after_) return std::nullopt;
    const bool becomes_partial = to_.is_partial() && !from_.is_partial();
    if (becomes_partial && to_.unreduced_kind != Reduction::kSum) return std::nullopt;
    if (!becomes_partial && relabels()) return step(StepKind::kRelabel, {});
    if (!to_.is_partial() && is_local()) return step(StepKind::kLocal, {});
    if (auto pairs = permutation(becomes_partial)) {
      RedistributeStep s = step(StepKind::kPermute, ranks_);
      s.pairs = std::move(*pairs);
      return s;
    }
    if (const auto root = one_holder()) {
      RedistributeStep s = step(StepKind::kBroadcast, ranks_);
      s.root = static_cast<int64_t>(*root);
      return s;
    }
    if (to_.is_partial() || !held_and_needed_once()) return std::nullopt;
    RedistributeStep s = step(StepKind::kAllToAll, ranks_);
    s.sent = blocks_of(&Sample::before, &Sample::after);
    s.received = blocks_of(&Sample::after, &Sample::before);
    return s;
  }

 private:
  struct Sample {
    Holding before;
    Holding after;
    int64_t elems = 0;
  };

  RedistributeStep step(StepKind kind, std::vector<int64_t> ranks) const {
    RedistributeStep s;
    s.kind = kind;
    s.to = to_;
    s.ranks = std::move(ranks);
    return s;
  }

  static bool inside(const Holding& h, size_t r) { return h.addends[r] >= 0; }

  bool relabels() const {
    for (const Sample& s : samples_) {
      std::map<int64_t, int64_t> forth;
      std::map<int64_t, int64_t> back;
      for (size_t r = 0; r < ranks_.size(); ++r) {
        if (to_.is_partial() && inside(s.before, r) != inside(s.after, r)) return false;
        if (!inside(s.after, r)) continue;
        if (!inside(s.before, r) || !(s.before.boxes[r] == s.after.boxes[r])) return false;
        const int64_t a = s.before.addends[r];
        const int64_t b = s.after.addends[r];
        if (forth.try_emplace(a, b).first->second != b) return false;
        if (to_.is_partial() && back.try_emplace(b, a).first->second != a) return false;
      }
    }
    return true;
  }

  bool is_local() const {
    return std::all_of(samples_.begin(), samples_.end(), [&](const Sample& s) {
      for (size_t r = 0; r < ranks_.size(); ++r) {
        if (!inside(s.after, r) || s.after.boxes[r].empty()) continue;
        if (!inside(s.before, r) || !s.before.boxes[r].contains(s.after.boxes[r])) return false;
      }
      return true;
    });
  }

  // The blocks of an all_to_all in the buffers of `whole`.
  Blocks blocks_of(Holding Sample::*whole, Holding Sample::*cut) const {
    const size_t dims = to_.dims.size();
    for (size_t d = 0; d < dims; ++d) {
      const bool in_order = std::all_of(samples_.begin(), samples_.end(), [&](const Sample& s) {
        return follow_each_other(s.*whole, s.*cut, d);
      });
      if (in_order) return Blocks::kInOrder;
    }
    return Blocks::kCopied;
  }

  // True if each buffer of `whole` is its part of every box of `cut`, one after the other in the
  // order of ranks. For this, the boxes follow each other along `dim` and are equal in all other
  // dimensions, and no buffer has more than one index of a dimension before `dim`.
  static bool follow_each_other(const Holding& whole, const Holding& cut, size_t dim) {
    const Box* last = nullptr;
    for (const Box& box : cut.boxes) {
      if (box.empty()) continue;
      for (size_t d = 0; d < box.lo.size() && last != nullptr; ++d) {
        const bool same = box.lo[d] == last->lo[d] && box.hi[d] == last->hi[d];
        if (d == dim ? box.lo[d] < last->lo[d] : !same) return false;
      }
      last = &box;
    }
    for (const Box& box : whole.boxes) {
      if (box.empty() || last == nullptr) continue;
      for (size_t d = 0; d < box.lo.size(); ++d) {
        if (d < dim && box.hi[d] - box.lo[d] > 1) return false;
        if (d != dim && (box.lo[d] < last->lo[d] || box.hi[d] > last->hi[d])) return false;
      }
    }
    return true;
  }

  // True if the position needs a box from another rank.
  static bool needs(const Sample& s, size_t r, bool becomes_partial) {
    if (!inside(s.after, r) || s.after.boxes[r].empty()) return false;
    return !becomes_partial || s.after.roots[r];
  }

  // [source, target] positions in ranks_; a rank keeps its own box if it can. The largest sample
  // decides; the pairs must fit the others too.
  std::optional<IntLists> permutation(bool becomes_partial) const {
    const Sample& s = samples_.front();
    using Key = std::pair<std::pair<std::vector<int64_t>, std::vector<int64_t>>, int64_t>;
    const auto key = [&](const Holding& h, size_t r) {
      return Key{{h.boxes[r].lo, h.boxes[r].hi}, becomes_partial ? 0 : h.addends[r]};
    };
    std::map<Key, std::vector<size_t>> holders;
    IntLists pairs;
    std::vector<size_t> open;
    for (size_t r = 0; r < ranks_.size(); ++r) {
      const bool wants = needs(s, r, becomes_partial);
      if (wants && inside(s.before, r) && key(s.before, r) == key(s.after, r)) {
        pairs.push_back({static_cast<int64_t>(r), static_cast<int64_t>(r)});
        continue;
      }
      if (inside(s.before, r)) holders[key(s.before, r)].push_back(r);
      if (wants) open.push_back(r);
    }
    std::map<Key, size_t> taken;
    for (const size_t r : open) {
      const Key k = key(s.after, r);
      const auto held = holders.find(k);
      size_t& next = taken[k];
      if (held == holders.end() || next == held->second.size()) return std::nullopt;
      pairs.push_back({static_cast<int64_t>(held->second[next++]), static_cast<int64_t>(r)});
    }
    std::sort(pairs.begin(), pairs.end());
    if (pairs.empty() || !fit(pairs, becomes_partial)) return std::nullopt;
    return pairs;
  }

  bool fit(const IntLists& pairs, bool becomes_partial) const {
    for (size_t n = 1; n < samples_.size(); ++n) {
      const Sample& s = samples_[n];
      std::set<size_t> served;
      for (const auto& pair : pairs) {
        const auto source = static_cast<size_t>(pair[0]);
        const auto target = static_cast<size_t>(pair[1]);
        if (!(s.before.boxes[source] == s.after.boxes[target])) return false;
        served.insert(target);
      }
      for (size_t r = 0; r < ranks_.size(); ++r) {
        if (needs(s, r, becomes_partial) && served.count(r) == 0) return false;
      }
    }
    return true;
  }

  // The position of the only source rank, if it keeps what it holds and every other rank needs all
  // of it. A broadcast also writes its root's output, so the root must be on the target mesh.
  std::optional<size_t> one_holder() const {
    if (from_.is_partial() || to_.is_partial()) return std::nullopt;
    std::optional<size_t> root;
    for (const Sample& s : samples_) {
      std::vector<size_t> holders;
      for (size_t r = 0; r < ranks_.size(); ++r) {
        if (inside(s.before, r)) holders.push_back(r);
      }
      if (holders.size() != 1) return std::nullopt;
      root = holders.front();
      for (size_t r = 0; r < ranks_.size(); ++r) {
        if (!inside(s.after, r) || !(s.after.boxes[r] == s.before.boxes[*root]))
          return std::nullopt;
      }
    }
    return root;
  }

  // The position of the target's only rank, if it also belongs to the source and every rank of the
  // source holds a different addend of everything it needs.
  std::optional<size_t> one_reader() const {
    std::optional<size_t> root;
    for (const Sample& s : samples_) {
      std::vector<size_t> readers;
      std::set<int64_t> addends;
      for (size_t r = 0; r < ranks_.size(); ++r) {
        if (inside(s.after, r)) readers.push_back(r);
        if (inside(s.before, r)) addends.insert(s.before.addends[r]);
      }
      if (readers.size() != 1 || addends.size() != ranks_.size()) return std::nullopt;
      root = readers.front();
      for (size_t r = 0; r < ranks_.size(); ++r) {
        if (!(s.before.boxes[r] == s.after.boxes[*root])) return std::nullopt;
      }
    }
    return root;
  }

  bool held_and_needed_once() const {
    return std::all_of(samples_.begin(), samples_.end(), [](const Sample& s) {
      const auto volume = [](const Holding& h) {
        int64_t sum = 0;
        for (size_t r = 0; r < h.boxes.size(); ++r) {
          if (inside(h, r)) sum += h.boxes[r].volume();
        }
        return sum;
      };
      return volume(s.before) == s.elems && volume(s.after) == s.elems;
    });
  }

  const Sharding& from_;
  const Sharding& to_;
  int64_t addends_before_;
  int64_t addends_after_;
  std::vector<int64_t> ranks_;
  std::vector<Sample> samples_;
};

}  // namespace

std::vector<int64_t> joined_ranks(const Mesh& a, const Mesh& b) {
  std::vector<int64_t> out = a.ranks();
  const std::vector<int64_t> more = b.ranks();
  out.insert(out.end(), more.begin(), more.end());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::optional<RedistributeStep> step_between(const Mesh& a, const Mesh& b, const Shape& shape,
                                             const Sharding& from, const Sharding& to) {
  if (a.name == b.name) return single_step(a, shape, from, to);
  return Crossing(a, b, shape, from, to).make();
}

TransferElems transfer_elems(const Mesh& a, const Mesh& b, const Extents& extents,
                             const Sharding& from, const RedistributeStep& step) {
  TransferElems out;
  if (step.ranks.empty()) return out;
  const Holding before = holding(a, from, extents, step.ranks);
  const Holding after = holding(b, step.to, extents, step.ranks);
  const size_t n = step.ranks.size();
  const auto add = [&](int64_t sent, int64_t received) {
    out.largest = std::max(out.largest, static_cast<double>(std::max(sent, received)));
    out.total += static_cast<double>(received);
  };
  if (step.kind == StepKind::kBroadcast || step.kind == StepKind::kReduce) {
    const int64_t all = before.boxes[static_cast<size_t>(step.root)].volume();
    for (size_t r = 1; r < n; ++r) add(all, all);
  } else if (step.kind == StepKind::kPermute) {
    for (const auto& pair : step.pairs) {
      const int64_t moved = before.boxes[static_cast<size_t>(pair[0])].volume();
      if (pair[0] != pair[1]) add(moved, moved);
    }
  } else if (step.kind == StepKind::kAllToAll) {
    for (size_t r = 0; r < n; ++r) {
      const int64_t kept = before.boxes[r].intersect(after.boxes[r]).volume();
      add(before.boxes[r].volume() - kept, after.boxes[r].volume() - kept);
    }
  }
  return out;
}

}  // namespace hostir
