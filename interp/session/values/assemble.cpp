#include "interp/session/values/assemble.h"

#include <algorithm>
#include <cstring>

#include "hostir/ir/fold_into.h"

namespace hostir::interp {
namespace {

// Row-major offset of a global index inside a box.
int64_t offset_in(const Box& box, const std::vector<int64_t>& index) {
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d)
    offset = offset * (box.hi[d] - box.lo[d]) + (index[d] - box.lo[d]);
  return offset;
}

Tensor widened(const Tensor& t) { return is_narrow_float(t.dtype) ? converted(t, DType::kF32) : t; }

// For avg, divides the sum by the number of members at the end.
void finish_average(Tensor& sum, size_t members) {
  const int64_t n = sum.element_count();
  const auto count = static_cast<int64_t>(members);
  for (int64_t i = 0; i < n; ++i) {
    if (is_float(sum.dtype))
      sum.set_double(i, sum.get_double(i) / static_cast<double>(count));
    else
      sum.set_int(i, sum.get_int(i) / count);
  }
}

// Calls f(global index of the first element, elements) for every row of a box until it returns
// false.
template <class F>
void for_each_row(const Box& box, F f) {
  if (box.empty()) return;
  const size_t rank = box.lo.size();
  const int64_t row = rank == 0 ? 1 : box.hi[rank - 1] - box.lo[rank - 1];
  const int64_t rows = box.volume() / row;
  for (int64_t r = 0; r < rows; ++r) {
    if (!f(box.index_at(r * row), row)) return;
  }
}

const std::byte* element_at(const Tensor& t, const Box& box, const std::vector<int64_t>& index) {
  return t.data.data() +
         static_cast<size_t>(offset_in(box, index)) * static_cast<size_t>(size_bytes(t.dtype));
}

// Assembles parts into a region of the global tensor, remembering the source of each part.
class Gathering {
 public:
  Gathering(DType dtype, const Box& region) : region_(region) {
    out_.tensor = Tensor::zeros(dtype, region.extents());
  }

  // `box` is all that the rank holds, `tensor` its part inside the region. Replicas are identified
  // by `box`, so that the order in which parts override each other does not depend on the region.
  void put(Rank rank, const Box& box, const Tensor& tensor) {
    const Box held = box.intersect(region_);
    if (held.empty()) return;
    for (const Part& p : parts_) {
      const Box common = p.box.intersect(held);
      if (!common.empty() && !out_.disagreement) compare(p, rank, held, tensor, common);
      if (p.box == box) return;
    }
    copy_region(tensor, held, out_.tensor, region_, held);
    parts_.push_back({rank, box});
  }

  bool wants(const Box& box) const { return !box.intersect(region_).empty(); }
  void miss(Rank rank) { out_.missing.push_back(rank); }
  Assembled take() { return std::move(out_); }

 private:
  struct Part {
    Rank rank;
    Box box;
  };

  void compare(const Part& earlier, Rank rank, const Box& box, const Tensor& tensor,
               const Box& common) {
    const auto size = static_cast<size_t>(size_bytes(tensor.dtype));
    for_each_row(common, [&](std::vector<int64_t> index, int64_t row) {
      const std::byte* a = element_at(out_.tensor, region_, index);
      const std::byte* b = element_at(tensor, box, index);
      if (std::memcmp(a, b, static_cast<size_t>(row) * size) == 0) return true;
      while (std::memcmp(a, b, size) == 0) {
        a += size;
        b += size;
        ++index.back();
      }
      out_.disagreement = Assembled::Disagreement{earlier.rank, rank, std::move(index)};
      return false;
    });
  }

  Box region_;
  Assembled out_;
  std::vector<Part> parts_;
};

const ShardData* find_shard(const std::vector<ShardData>& shards, int64_t rank) {
  for (const ShardData& s : shards) {
    if (s.rank == rank) return &s;
  }
  return nullptr;
}

// The reduced value of one group; nullopt if a member with elements is missing.
std::optional<Tensor> folded(const std::vector<int64_t>& members,
                             const std::vector<ShardData>& shards, Reduction kind, DType dtype,
                             Gathering& gathering) {
  std::optional<Tensor> sum;
  for (const int64_t member : members) {
    const ShardData* shard = find_shard(shards, member);
    if (!shard || !shard->tensor) {
      gathering.miss(static_cast<Rank>(member));
      return std::nullopt;
    }
    const Tensor part = widened(*shard->tensor);
    if (!sum)
      sum = part;
    else
      fold_into(*sum, 0, part, 0, std::min(sum->element_count(), part.element_count()), kind);
  }
  if (sum && kind == Reduction::kAvg) finish_average(*sum, members.size());
  if (sum && sum->dtype != dtype) sum = converted(*sum, dtype);
  return sum;
}

void gather_partial(const Mesh& mesh, const Sharding& sharding, DType dtype,
                    const std::vector<ShardData>& shards, Gathering& gathering) {
  for (const auto& members : groups_over(mesh, sharding.unreduced)) {
    const ShardData* first = nullptr;  // every member holds this box
    for (size_t i = 0; i < members.size() && !first; ++i) first = find_shard(shards, members[i]);
    if (first && !gathering.wants(first->box)) continue;
    const auto sum = folded(members, shards, sharding.unreduced_kind, dtype, gathering);
    if (sum) gathering.put(first->rank, first->box, *sum);
  }
}

}  // namespace

void copy_region(const Tensor& from, const Box& from_box, Tensor& to, const Box& to_box,
                 const Box& region) {
  const auto size = static_cast<size_t>(size_bytes(to.dtype));
  for_each_row(region, [&](const std::vector<int64_t>& index, int64_t row) {
    std::memcpy(to.data.data() + static_cast<size_t>(offset_in(to_box, index)) * size,
                element_at(from, from_box, index), static_cast<size_t>(row) * size);
    return true;
  });
}

Assembled assemble(const Program& program, const Type& type, const std::vector<ShardData>& shards) {
  const auto extents = constant_extents(shape_of(type));
  return assemble(program, type, shards, Box::whole(extents ? *extents : Extents{}));
}

Assembled assemble(const Program& program, const Type& type, const std::vector<ShardData>& shards,
                   const Box& region) {
  Gathering gathering(dtype_of(type), region);
  const Sharding* sharding = sharding_of(type);
  const Mesh* mesh = sharding ? program.find_mesh(sharding->mesh) : nullptr;
  if (mesh && sharding->is_partial()) {
    gather_partial(*mesh, *sharding, dtype_of(type), shards, gathering);
    return gathering.take();
  }
  for (const ShardData& shard : shards) {
    if (!gathering.wants(shard.box) || (mesh && !mesh->position_of(shard.rank))) continue;
    if (shard.tensor)
      gathering.put(shard.rank, shard.box, *shard.tensor);
    else
      gathering.miss(shard.rank);
  }
  return gathering.take();
}

}  // namespace hostir::interp
