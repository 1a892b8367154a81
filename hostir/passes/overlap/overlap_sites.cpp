#include "hostir/passes/overlap/overlap_sites.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "hostir/passes/host/host_builder.h"
#include "hostir/passes/prepare/fusion_info.h"
#include "hostir/passes/redistribute/redistribute_step.h"

namespace hostir {

bool OverlapSite::is_even() const {
  return std::all_of(sizes.begin(), sizes.end(), [&](int64_t n) { return n == sizes.front(); });
}

bool OverlapSite::is_cut_once() const {
  for (size_t m = 0; m < sizes.size(); ++m) {
    const int64_t start = static_cast<int64_t>(m) * largest();
    if (starts[m] != std::min(rows, start)) return false;
  }
  return true;
}

int64_t OverlapSite::largest() const { return *std::max_element(sizes.begin(), sizes.end()); }

namespace {

constexpr const char* kUnequalParts = "its rows are not cut into equal parts";

using AxisList = std::vector<AxisRef>;

// A site, or the reason why a collective is not one.
struct Found {
  OverlapSite site;
  std::string problem;
};

// The coordinate along axes of a mesh, the last axis fastest.
IndexExpr coordinate(const Mesh& mesh, const AxisList& axes) {
  IndexExpr out = 0;
  for (const AxisRef& axis : axes) {
    IndexExpr own = IndexExpr::coord(axis.name);
    if (!axis.whole()) {
      const int64_t minor = mesh.axes[*mesh.axis_index(axis.name)].size / (axis.pre * axis.size);
      own = IndexExpr::binary(IndexExpr::Kind::kMod,
                              IndexExpr::binary(IndexExpr::Kind::kDiv, own, minor), axis.size);
    }
    out =
        IndexExpr::binary(IndexExpr::Kind::kAdd,
                          IndexExpr::binary(IndexExpr::Kind::kMul, out, mesh.axis_size(axis)), own);
  }
  return out.simplified();
}

bool multiplies(const Function& kernel) {
  const auto& body = body_of(kernel);
  return std::any_of(body.begin(), body.end(), [&](InstrId id) {
    return record(kernel.instr(id).kind).shape == OpShape::kContraction;
  });
}

class SiteFinder {
 public:
  SiteFinder(const Program& program, const Program& source, const Function& host)
      : program_(program),
        source_(source),
        host_(host),
        body_(host.region(host.body).instructions),
        index_(host.instructions.size()),
        users_(host.values.size()) {
    for (size_t at = 0; at < body_.size(); ++at) {
      index_[body_[at].index] = at;
      for (const Operand& o : host.instr(body_[at]).operands) {
        if (o.value.valid()) users_[o.value.index].push_back(at);
      }
    }
    for (const Function& f : program.functions) {
      if (f.kind == FunctionKind::kKernel) kernels_.emplace(f.name, &f);
    }
    for (const Function& f : source.functions) own_.insert(f.name);
  }

  OverlapSites run() {
    for (size_t at = 0; at < body_.size(); ++at) {
      const Instruction& i = host_.instr(body_[at]);
      if (i.kind == OpKind::all_gather) add(gather(at));
      if (i.kind == OpKind::reduce_scatter) add(scatter(at));
      if (i.kind == OpKind::all_reduce) add(reduce(at));
    }
    return std::move(out_);
  }

 private:
  static Found none(size_t at, std::string problem) {
    Found out;
    out.site.at = at;
    out.problem = std::move(problem);
    return out;
  }

  void add(Found found) {
    OverlapSite& site = found.site;
    if (found.problem.empty()) {
      const bool taken =
          std::any_of(site.launches.begin(), site.launches.end(),
                      [&](const ChunkedLaunch& l) { return taken_.count(l.at) != 0; });
      if (taken) found.problem = "its kernel is cut for another collective already";
      // Views of the rows are made on all ranks.
      const ShardType* type = shard(site.whole.valid() ? site.whole : site.part);
      const Mesh* mesh = program_.find_mesh(type->sharding->mesh);
      if (mesh->size() < program_.find_mesh(host_.mesh)->size())
        found.problem = fmt::format("ranks outside @{} hold none of its rows", mesh->name);
    }
    if (!found.problem.empty()) {
      out_.refused.push_back({site.at, std::move(found.problem)});
      return;
    }
    for (const ChunkedLaunch& l : site.launches) taken_.insert(l.at);
    out_.sites.push_back(std::move(site));
  }

  const Instruction& at(size_t index) const { return host_.instr(body_[index]); }
  const std::string& name(ValueId v) const { return host_.value(v).name; }
  const ShardType* shard(ValueId v) const {
    return v.valid() ? std::get_if<ShardType>(&host_.value(v).type) : nullptr;
  }

  std::optional<size_t> alloc_of(ValueId v) const {
    const InstrId by = host_.value(v).defined_by;
    if (!by.valid() || host_.instr(by).kind != OpKind::alloc) return std::nullopt;
    return index_[by.index];
  }

  const Function* kernel_of(size_t launch) const {
    const auto* symbol = at(launch).attributes.get<Symbol>("kernel");
    const auto found = symbol != nullptr ? kernels_.find(symbol->name) : kernels_.end();
    return found == kernels_.end() ? nullptr : found->second;
  }

  // True for a launch that only packs or unpacks.
  bool repacks(size_t index) const {
    const Function* kernel = at(index).kind == OpKind::launch ? kernel_of(index) : nullptr;
    if (kernel == nullptr || body_of(*kernel).size() != 2) return false;
    const OpKind kind = kernel->instr(body_of(*kernel).front()).kind;
    return kind == OpKind::pack || kind == OpKind::unpack;
  }

  static std::vector<ValueId> in_slot(const Instruction& i, std::string_view slot) {
    return operands_in_slot(i, slot_index(i.kind, slot));
  }

  // --- the three kinds

  Found gather(size_t index) {
    const Instruction& i = at(index);
    Found out = none(index, {});
    OverlapSite& site = out.site;
    site.kind = OverlapSite::Kind::kGather;
    site.part = slot_value(i, "input");
    site.whole = slot_value(i, "output");
    if (shard(site.part) == nullptr || shard(site.whole) == nullptr) {
      return none(index, "it works in place or on plain buffers");
    }
    site.dropped = {index};
    if (!drop_alloc(site, site.whole)) return none(index, "its result is not a buffer of its own");
    if (shard(site.whole)->blocks) {
      const auto& users = users_[site.whole.index];
      if (users.size() != 2 || !repacks(users[1]))
        return none(index, "its blocks are not unpacked");
      site.dropped.push_back(users[1]);
      site.whole = in_slot(at(users[1]), "writes").front();
      if (!drop_alloc(site, site.whole)) return none(index, "its result is not a buffer");
    }
    if (std::string problem = find_blocks(site, i); !problem.empty()) return none(index, problem);
    const std::vector<size_t>& users = users_[site.whole.index];
    std::set<size_t> seen;
    for (const size_t user : users) {
      if (std::count(site.dropped.begin(), site.dropped.end(), user) != 0) continue;
      if (!seen.insert(user).second) continue;
      if (std::string problem = cut(site, user, "reads"); !problem.empty()) {
        return none(index, problem);
      }
    }
    if (std::string problem = check_products(site); !problem.empty()) return none(index, problem);
    find_ring(site);
    return out;
  }

  Found scatter(size_t index) {
    const Instruction& i = at(index);
    Found out = none(index, {});
    OverlapSite& site = out.site;
    site.kind = OverlapSite::Kind::kScatter;
    site.part = slot_value(i, "output");
    site.whole = slot_value(i, "input");
    if (shard(site.part) == nullptr || shard(site.whole) == nullptr) {
      return none(index, "it works in place or on plain buffers");
    }
    site.dropped = {index};
    if (!drop_alloc(site, site.part)) return none(index, "its result is not a buffer of its own");
    if (shard(site.whole)->blocks) {
      const auto& users = users_[site.whole.index];
      if (users.size() != 2 || !repacks(users[0])) return none(index, "its blocks are not packed");
      site.dropped.push_back(users[0]);
      drop_alloc(site, site.whole);
      site.whole = in_slot(at(users[0]), "reads").front();
    }
    if (std::string problem = find_producer(site); !problem.empty()) return none(index, problem);
    if (std::string problem = find_blocks(site, i); !problem.empty()) return none(index, problem);
    if (std::string problem = cut_producer(site); !problem.empty()) return none(index, problem);
    find_ring(site);
    return out;
  }

  Found reduce(size_t index) {
    const Instruction& i = at(index);
    Found out = none(index, {});
    OverlapSite& site = out.site;
    site.kind = OverlapSite::Kind::kReduce;
    site.whole = slot_value(i, "buffer");
    if (shard(site.whole) == nullptr) return none(index, "it does not work in place");
    site.dropped = {index};
    if (std::string problem = find_producer(site); !problem.empty()) return none(index, problem);
    const ShardType& type = *shard(site.whole);
    const auto extents = constant_extents(type.shape);
    const Mesh* mesh = program_.find_mesh(type.sharding->mesh);
    if (!extents || mesh == nullptr) return none(index, "its sizes are unknown");
    if (has_blocks(*type.sharding)) return none(index, kUnequalParts);
    const std::vector<Box> boxes = shard_boxes(*mesh, *type.sharding, *extents);
    while (site.dim < extents->size() && extent(boxes.front(), site.dim) <= 1) ++site.dim;
    if (site.dim == extents->size()) return none(index, "it has one row");
    site.rows = extent(boxes.front(), site.dim);
    for (const Box& box : boxes) {
      if (extent(box, site.dim) != site.rows) return none(index, "its rows differ by rank");
    }
    set_outer(site, *mesh, type.sharding->dims[site.dim].axes);
    site.contiguous = is_contiguous(boxes, site.dim);
    site.no_ring = "an all_reduce has no ring";
    if (std::string problem = cut_producer(site); !problem.empty()) return none(index, problem);
    return out;
  }

  // --- parts

  bool drop_alloc(OverlapSite& site, ValueId v) const {
    const auto alloc = alloc_of(v);
    if (alloc) site.dropped.push_back(*alloc);
    return alloc.has_value();
  }

  // The one launch that writes the partial value; nothing else may use it.
  std::string find_producer(OverlapSite& site) const {
    if (!drop_alloc(site, site.whole)) return "its operand is not a buffer of its own";
    std::optional<size_t> writer;
    for (const size_t user : users_[site.whole.index]) {
      if (std::count(site.dropped.begin(), site.dropped.end(), user) != 0) continue;
      if (site.kind == OverlapSite::Kind::kReduce && user > site.at) continue;
      const bool writes = at(user).kind == OpKind::launch && !writer && user < site.at;
      if (!writes) return "its operand is used elsewhere";
      writer = user;
    }
    if (!writer) return "no kernel writes its operand";
    const std::vector<ValueId> written = in_slot(at(*writer), "writes");
    if (std::count(written.begin(), written.end(), site.whole) != 1) {
      return "no kernel writes its operand as a whole";
    }
    site.launches.push_back({*writer, nullptr, {}});
    return {};
  }

  static int64_t extent(const Box& box, size_t d) { return box.hi[d] - box.lo[d]; }

  static bool is_contiguous(const std::vector<Box>& boxes, size_t dim) {
    return std::all_of(boxes.begin(), boxes.end(), [&](const Box& box) {
      for (size_t d = 0; d < dim; ++d) {
        if (extent(box, d) > 1) return false;
      }
      return true;
    });
  }

  static void set_outer(OverlapSite& site, const Mesh& mesh, const AxisList& axes) {
    for (const AxisRef& axis : axes) site.outer *= mesh.axis_size(axis);
  }

  // The dimension of the rows and the block of every member.
  std::string find_blocks(OverlapSite& site, const Instruction& collective) const {
    const ShardType& part = *shard(site.part);
    const ShardType& whole = *shard(site.whole);
    if (part.blocks || whole.blocks) return "its blocks are packed on both sides";
    if (has_blocks(*part.sharding) || has_blocks(*whole.sharding)) return kUnequalParts;
    if (!part.sharding->unreduced.empty()) return "its result is a partial sum over other axes";
    const Instruction& comm = host_.instr(host_.value(slot_value(collective, "comm")).defined_by);
    const auto* axes = comm.attributes.get<AxisList>("axes");
    const Mesh* mesh = program_.find_mesh(whole.sharding->mesh);
    const auto extents = constant_extents(whole.shape);
    if (axes == nullptr || mesh == nullptr || part.sharding->mesh != whole.sharding->mesh) {
      return "it is between two meshes";
    }
    if (!extents) return "its sizes are unknown: give them with --size";
    size_t differing = 0;
    for (size_t d = 0; d < extents->size(); ++d) {
      if (part.sharding->dims[d].axes == whole.sharding->dims[d].axes) continue;
      site.dim = d;
      ++differing;
    }
    AxisList joined = whole.sharding->dims[site.dim].axes;
    set_outer(site, *mesh, joined);
    joined.insert(joined.end(), axes->begin(), axes->end());
    if (differing != 1 || joined != part.sharding->dims[site.dim].axes) {
      return "it does not move a single dimension that the communicator's axes cut last";
    }
    const std::vector<Box> wholes = shard_boxes(*mesh, *whole.sharding, *extents);
    const std::vector<Box> parts = shard_boxes(*mesh, *part.sharding, *extents);
    site.rows = extent(wholes.front(), site.dim);
    for (const auto& group : groups_over(*mesh, *axes)) {
      std::vector<int64_t> starts, sizes;
      for (const int64_t rank : group) {
        const auto p = static_cast<size_t>(*mesh->position_of(rank));
        if (extent(wholes[p], site.dim) != site.rows) return "its rows differ by rank";
        starts.push_back(std::min(parts[p].lo[site.dim] - wholes[p].lo[site.dim], site.rows));
        sizes.push_back(extent(parts[p], site.dim));
      }
      if (site.sizes.empty()) std::tie(site.starts, site.sizes) = std::tie(starts, sizes);
      if (site.starts != starts || site.sizes != sizes) return "its blocks differ by group";
    }
    if (site.rows == 0) return "it has no rows";
    site.contiguous = is_contiguous(wholes, site.dim);
    site.position = coordinate(*mesh, *axes);
    if (mesh->name != host_.mesh) site.no_ring = "its mesh is not the one of the host function";
    return {};
  }

  // Adds a launch that has the rows in operands of this slot.
  std::string cut(OverlapSite& site, size_t launch, std::string_view slot) const {
    const Instruction& i = at(launch);
    if (i.kind != OpKind::launch) {
      return fmt::format("{} uses %{}, too", record(i.kind).mnemonic, name(site.whole));
    }
    const Function* kernel = kernel_of(launch);
    if (kernel == nullptr || own_.count(kernel->name) != 0 || !in_slot(i, "updates").empty()) {
      return fmt::format("launch {} cannot be cut", kernel == nullptr ? "" : "@" + kernel->name);
    }
    const bool reads = slot == "reads";
    const std::vector<ValueId> operands = in_slot(i, slot);
    const Instruction& ret = kernel->instr(body_of(*kernel).back());
    const auto inside = [&](size_t n) {
      return reads ? kernel->params[n].value : ret.operands[n].value;
    };
    const auto first = std::find(operands.begin(), operands.end(), site.whole);
    if (first == operands.end()) return fmt::format("@{} does not read it", kernel->name);
    ChunkedLaunch chunked{launch, kernel, {}};
    chunked.rows = rows_of_kernel(program_, *kernel,
                                  inside(static_cast<size_t>(first - operands.begin())), site.dim);
    if (!chunked.rows.problem.empty()) {
      return fmt::format("@{} cannot be computed row by row: {}", kernel->name,
                         chunked.rows.problem);
    }
    for (size_t n = 0; n < operands.size(); ++n) {
      if (operands[n] == site.whole && chunked.rows.dims[inside(n).index] != site.dim) {
        return fmt::format("@{} also reads all rows for each", kernel->name);
      }
    }
    const int64_t rows = site.rows * site.outer;
    const bool fits = chunk_kernel(program_, *kernel, chunked.rows, rows) &&
                      chunk_kernel(program_, *kernel, chunked.rows, 2 * rows);
    if (!fits) return fmt::format("an attribute in @{} fixes the number of rows", kernel->name);
    site.launches.push_back(std::move(chunked));
    return {};
  }

  // Cuts the launch that find_producer() found.
  std::string cut_producer(OverlapSite& site) const {
    const size_t launch = site.launches.front().at;
    site.launches.clear();
    std::string problem = cut(site, launch, "writes");
    return problem.empty() ? check_products(site) : problem;
  }

  std::string check_products(const OverlapSite& site) const {
    if (site.launches.empty()) return "nothing uses it";
    const bool any = std::any_of(site.launches.begin(), site.launches.end(),
                                 [](const ChunkedLaunch& l) { return multiplies(*l.kernel); });
    return any ? "" : "no matrix product is next to it";
  }

  // Why a ring is impossible.
  void find_ring(OverlapSite& site) const {
    if (!site.no_ring.empty()) return;
    const bool is_gather = site.kind == OverlapSite::Kind::kGather;
    if (!is_gather) {
      const Sharding& sharding = *shard(site.whole)->sharding;
      if (sharding.unreduced_kind == Reduction::kAvg) site.no_ring = "an average has no ring";
    }
    if (is_gather && !site.is_cut_once()) site.no_ring = "a smaller block is before a larger one";
    for (const ChunkedLaunch& l : site.launches) {
      const std::vector<ValueId> reads = in_slot(at(l.at), "reads");
      const std::vector<ValueId> writes = in_slot(at(l.at), "writes");
      if (!local_chunk_kernel(program_, *l.kernel, l.rows, site.largest())) {
        site.no_ring =
            fmt::format("parts of other dimensions in @{} differ by rank", l.kernel->name);
      }
      if (!is_gather && writes.size() > 1) site.no_ring = "its kernel has several results";
      for (size_t n = 0; n < reads.size(); ++n) {
        const ValueId inside = l.kernel->params[n].value;
        const auto dim = l.rows.dims[inside.index];
        const Sharding* sharding = sharding_of(l.kernel->value(inside).type);
        if (!is_gather && sharding != nullptr && sharding->is_partial()) {
          site.no_ring = "its kernel reads partial values";
        }
        if (is_gather && !site.is_even() && dim && reads[n] != site.whole) {
          site.no_ring = fmt::format("its blocks are uneven, and @{} reads rows of %{}, too",
                                     l.kernel->name, name(reads[n]));
        }
      }
      const Instruction& ret = l.kernel->instr(body_of(*l.kernel).back());
      for (size_t n = 0; n < writes.size() && is_gather && !site.is_even(); ++n) {
        const ShardType& type = *shard(writes[n]);
        const auto extents = constant_extents(type.shape);
        const size_t dim = *l.rows.dims[ret.operands[n].value.index];
        const bool fits =
            extents && is_contiguous(shard_boxes(*program_.find_mesh(type.sharding->mesh),
                                                 *type.sharding, *extents),
                                     dim);
        if (!fits)
          site.no_ring = fmt::format("the uneven rows of %{} are strided", name(writes[n]));
      }
    }
  }

  const Program& program_;
  const Program& source_;
  const Function& host_;
  const std::vector<InstrId>& body_;
  std::vector<size_t> index_;               // by instruction: its place in the body
  std::vector<std::vector<size_t>> users_;  // by value: indices in the body, once per operand
  std::map<std::string, const Function*> kernels_;
  std::set<std::string> own_;  // functions of the source
  std::set<size_t> taken_;     // launches of sites
  OverlapSites out_;
};

}  // namespace

OverlapSites find_overlap_sites(const Program& program, const Program& source,
                                const Function& host) {
  return SiteFinder(program, source, host).run();
}

}  // namespace hostir
