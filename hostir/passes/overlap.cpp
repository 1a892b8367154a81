#include "hostir/passes/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "hostir/ir/compact.h"
#include "hostir/passes/fusion_info.h"
#include "hostir/passes/host_builder.h"
#include "hostir/passes/overlap_sites.h"
#include "hostir/passes/stream_order.h"
#include "hostir/passes/task_times.h"
#include "hostir/support/text.h"

namespace hostir {

namespace {

using SiteKind = OverlapSite::Kind;
using ExprKind = IndexExpr::Kind;

// How one site is done.
struct Choice {
  Overlap overlap = Overlap::kNone;
  int64_t pieces = 1;  // kCollectives: of each block; of an all_reduce: in all
};

IndexExpr expr_of(ExprKind kind, IndexExpr a, IndexExpr b) {
  return IndexExpr::binary(kind, std::move(a), std::move(b)).simplified();
}

// Some rows of the whole: a range, the buffer that holds them, and who sends or keeps them.
struct Chunk {
  IndexExpr start;
  int64_t rows = 0;
  ValueId buffer;
  size_t member = 0;
  int64_t within = 0;  // the first row in the member's block
};

// Makes the kernels of chunks, once for each number of rows.
class ChunkKernels {
 public:
  explicit ChunkKernels(const Program& program) : program_(program) {
    for (const Function& f : program.functions) names_.add(f.name);
    for (const Mesh& m : program.meshes) names_.add(m.name);
    for (const Machine& m : program.machines) names_.add(m.name);
  }

  /// `rows`: in all, or of each rank for a local kernel.
  const Function& of(const ChunkedLaunch& launch, int64_t rows, bool local) {
    std::string key = fmt::format("{} {} {}", launch.kernel->name, rows, local);
    for (const auto& dim : launch.rows.dims) key += dim ? fmt::format(" {}", *dim) : " -";
    const auto known = made_.find(key);
    if (known != made_.end()) return known->second;
    const auto make = local ? local_chunk_kernel : chunk_kernel;
    Function made = *make(program_, *launch.kernel, launch.rows, rows);
    return keep(std::move(key), launch.kernel->name + (local ? "_block" : "_rows"),
                std::move(made));
  }

  /// A kernel with one op on operands of one type.
  const Function& of_op(OpKind kind, const std::string& stem, const TensorType& type,
                        size_t operands, Attributes attributes = {}) {
    Function k;
    k.kind = FunctionKind::kKernel;
    k.body = k.add_region();
    Instruction op;
    op.kind = kind;
    op.attributes = std::move(attributes);
    for (size_t n = 0; n < operands; ++n) {
      const ValueId in = k.add_value(std::string(1, static_cast<char>('a' + n)), type);
      k.params.push_back({in, false});
      op.operands.push_back(Operand{.value = in, .slot = static_cast<uint8_t>(n)});
    }
    const ValueId out = k.add_value("out", type);
    op.results = {out};
    k.add_instruction(k.body, std::move(op));
    Instruction ret;
    ret.kind = OpKind::return_;
    ret.operands = {Operand{.value = out}};
    k.results.push_back({"out", type, std::nullopt, {}});
    k.add_instruction(k.body, std::move(ret));
    return keep(fmt::format("{} {}", record(kind).mnemonic, to_string(Type(type))), stem,
                std::move(k));
  }

  /// Those that `used` names, by name.
  std::vector<Function> take(const std::set<std::string>& used) const {
    std::vector<Function> out;
    for (const std::string& key : order_) {
      if (used.count(made_.at(key).name) != 0) out.push_back(made_.at(key));
    }
    return out;
  }
  const std::vector<std::string>& order() const { return order_; }
  const Function& at(const std::string& key) const { return made_.at(key); }

 private:
  const Function& keep(std::string key, const std::string& stem, Function kernel) {
    const auto [at, is_new] = made_.try_emplace(key);
    if (!is_new) return at->second;
    kernel.name = names_.fresh(stem);
    at->second = std::move(kernel);
    order_.push_back(std::move(key));
    return at->second;
  }

  const Program& program_;
  UniqueNames names_;
  std::map<std::string, Function> made_;
  std::vector<std::string> order_;  // keys
};

// Rewrites the sites of a host function, each as chosen.
class Rewriter {
 public:
  Rewriter(const Program& program, const Function& host, const std::vector<OverlapSite>& sites,
           const std::vector<Choice>& choices, ChunkKernels& kernels)
      : program_(program),
        in_(host),
        body_(host.region(host.body).instructions),
        sites_(sites),
        choices_(choices),
        kernels_(kernels),
        names_(host),
        chunks_(sites.size()) {}

  Function run() {
    out_ = with_empty_body(in_);
    plan();
    for (size_t at = 0; at < body_.size(); ++at) {
      const auto todo = todo_.find(at);
      if (todo != todo_.end()) {
        for (const auto& [site, launches] : todo->second) {
          if (launches.empty())
            communicate(site);
          else
            compute(site, launches);
        }
      }
      if (dropped_.count(at) == 0) add_original(at);
    }
    return compacted(std::move(out_));
  }

 private:
  const Instruction& at(size_t index) const { return in_.instr(body_[index]); }
  const ShardType& shard(ValueId v) const { return std::get<ShardType>(in_.value(v).type); }

  // --- what happens where

  void plan() {
    std::vector<size_t> last_write(in_.values.size(), 0);
    for (size_t index = 0; index < body_.size(); ++index) {
      for (const Operand& o : at(index).operands) {
        const bool writes = o.access == Access::kWrite || o.access == Access::kReadWrite;
        if (o.value.valid() && writes) writes_[o.value.index].push_back(index);
      }
      if (at(index).kind == OpKind::alloc) alloc_[at(index).results.front().index] = index;
    }
    for (size_t s = 0; s < sites_.size(); ++s) {
      if (choices_[s].overlap == Overlap::kNone) continue;
      const OverlapSite& site = sites_[s];
      dropped_.insert(site.dropped.begin(), site.dropped.end());
      for (const ChunkedLaunch& l : site.launches) dropped_.insert(l.at);
      if (site.kind != SiteKind::kGather) {
        todo_[site.launches.front().at].push_back({s, {0}});
        continue;
      }
      todo_[site.at].push_back({s, {}});
      // Launches that can move up to the first one are done with it, chunk by chunk.
      std::vector<size_t> together = {0};
      const size_t first = site.launches.front().at;
      for (size_t n = 1; n < site.launches.size(); ++n) {
        if (can_move(site, site.launches[n].at, first)) {
          together.push_back(n);
          for (const ValueId w : written_by(site.launches[n].at)) moved_allocs_[first].push_back(w);
        } else {
          todo_[site.launches[n].at].push_back({s, {n}});
        }
      }
      todo_[first].push_back({s, std::move(together)});
      if (choices_[s].overlap == Overlap::kRing && !site.is_even()) {
        for (const ChunkedLaunch& l : site.launches) {
          const std::vector<ValueId> out = written_by(l.at);
          for (size_t n = 0; n < out.size(); ++n) padded_[out[n].index] = {s, result_dim(l, n)};
        }
      }
    }
    for (const auto& [to, values] : moved_allocs_) {
      for (const ValueId v : values) dropped_.insert(alloc_.at(v.index));
    }
  }

  std::vector<ValueId> written_by(size_t launch) const {
    return operands_in_slot(at(launch), slot_index(OpKind::launch, "writes"));
  }
  std::vector<ValueId> read_by(size_t launch) const {
    return operands_in_slot(at(launch), slot_index(OpKind::launch, "reads"));
  }

  static size_t result_dim(const ChunkedLaunch& l, size_t n) {
    const Instruction& ret = l.kernel->instr(body_of(*l.kernel).back());
    return *l.rows.dims[ret.operands[n].value.index];
  }

  // True if everything that the launch reads is written before `to`, and it writes fresh buffers.
  bool can_move(const OverlapSite& site, size_t launch, size_t to) const {
    for (const ValueId r : read_by(launch)) {
      const auto writes = writes_.find(r.index);
      if (r == site.whole || writes == writes_.end()) continue;
      for (const size_t w : writes->second) {
        if (w >= to && w < launch) return false;
      }
    }
    const std::vector<ValueId> written = written_by(launch);
    return std::all_of(written.begin(), written.end(), [&](ValueId w) {
      return alloc_.count(w.index) != 0 && writes_.at(w.index).front() == launch;
    });
  }

  // --- instructions

  void add(Instruction i) { out_.add_instruction(out_.body, std::move(i)); }

  void add_original(size_t index) {
    const Instruction& i = at(index);
    if (i.kind == OpKind::alloc) return add_alloc(index);
    if (i.kind == OpKind::stream && !stream_.valid()) stream_ = i.results.front();
    add(with_regions_in(out_, in_, i));
  }

  // The alloc of a buffer of the function; one whose rows a ring pads is a view of a larger one.
  void add_alloc(size_t index) {
    const Instruction& i = at(index);
    const ValueId value = i.results.front();
    const auto padded = padded_.find(value.index);
    if (padded == padded_.end()) return add(i);
    const auto& [s, dim] = padded->second;
    const OverlapSite& site = sites_[s];
    const ValueId large =
        alloc(in_.value(value).name + "_padded",
              rows_type(site, shard(value), dim, member_count(site) * site.largest()), i.from);
    larger_[value.index] = large;
    add_view(value, large, dim, 0, site.rows);
  }

  size_t index_of(const OverlapSite& site) const {
    return static_cast<size_t>(&site - sites_.data());
  }

  static int64_t member_count(const OverlapSite& site) {
    return static_cast<int64_t>(site.sizes.size());
  }

  ValueId alloc(const std::string& name, Type type, const std::vector<OpRef>& from) {
    const ValueId made = out_.add_value(names_.fresh(name), std::move(type));
    Instruction i = host_instruction(OpKind::alloc, {{"stream", stream_}}, {}, from);
    i.results = {made};
    add(std::move(i));
    return made;
  }

  // The type of `rows` local rows of a value; other axes than those of the site may cut them.
  static ShardType rows_type(const OverlapSite& site, ShardType type, size_t dim, int64_t rows) {
    type.shape[dim] = rows * site.outer;
    return type;
  }

  // `view`: rows [start, limit) of the buffer, counted in the local part.
  void add_view(ValueId view, ValueId buffer, size_t dim, IndexExpr start, IndexExpr limit) {
    const size_t rank = shape_of(out_.value(buffer).type).size();
    ExprList starts(rank, IndexExpr(0));
    ExprList limits(rank, IndexExpr(-1));
    starts[dim] = std::move(start);
    limits[dim] = std::move(limit);
    Attributes attributes;
    attributes.set("starts", std::move(starts));
    attributes.set("limits", std::move(limits));
    Instruction i =
        host_instruction(OpKind::subview, {{"buffer", buffer}}, std::move(attributes), {});
    i.results = {view};
    add(std::move(i));
  }

  ValueId view(ValueId buffer, Type type, size_t dim, const IndexExpr& start, int64_t rows) {
    const ValueId made =
        out_.add_value(names_.fresh(out_.value(buffer).name + "_rows"), std::move(type));
    add_view(made, buffer, dim, start, expr_of(ExprKind::kAdd, start, rows));
    return made;
  }

  void launch(const Function& kernel, const std::vector<ValueId>& reads,
              const std::vector<ValueId>& writes, const std::vector<OpRef>& from) {
    std::vector<SlotUse> operands;
    for (const ValueId r : reads) operands.push_back({"reads", r});
    for (const ValueId w : writes) operands.push_back({"writes", w});
    operands.push_back({"stream", stream_});
    Attributes attributes;
    attributes.set("kernel", Symbol{kernel.name});
    add(host_instruction(OpKind::launch, std::move(operands), std::move(attributes), from));
  }

  void collective(OpKind kind, const OverlapSite& site, ValueId input, ValueId output,
                  Attributes attributes) {
    const Instruction& original = at(site.at);
    add(host_instruction(kind,
                         {{"comm", slot_value(original, "comm")},
                          {"input", input},
                          {"output", output},
                          {"stream", stream_}},
                         std::move(attributes), original.from));
  }

  static Attributes rooted(size_t member) {
    Attributes out;
    out.set("root", IndexExpr(static_cast<int64_t>(member)));
    return out;
  }

  // --- the chunks of a site

  // The chunks of `collectives`: the blocks, or pieces of them; empty ones are left out.
  std::vector<Chunk> cut_rows(size_t s) const {
    const OverlapSite& site = sites_[s];
    std::vector<int64_t> starts = site.starts;
    std::vector<int64_t> sizes = site.sizes;
    int64_t pieces = choices_[s].pieces;
    if (site.kind == SiteKind::kReduce) {
      starts = {0};
      sizes = {site.rows};
    }
    std::vector<Chunk> out;
    for (size_t m = 0; m < sizes.size(); ++m) {
      const int64_t size = (sizes[m] + pieces - 1) / pieces;
      for (int64_t lo = 0; lo < sizes[m]; lo += size) {
        const int64_t rows = std::min(size, sizes[m] - lo);
        out.push_back({starts[m] + lo, rows, {}, m, lo});
      }
    }
    return out;
  }

  // The member whose block a rank holds after `t` steps of a ring: that of the t-th neighbour.
  static IndexExpr member_before(const OverlapSite& site, int64_t t) {
    const int64_t n = member_count(site);
    return expr_of(ExprKind::kMod, expr_of(ExprKind::kAdd, site.position, (n - t % n) % n), n);
  }

  // Where the chunk of a member starts in a ring.
  static IndexExpr window(const OverlapSite& site, const IndexExpr& member) {
    const IndexExpr start = expr_of(ExprKind::kMul, member, site.largest());
    if (site.kind == SiteKind::kGather || site.is_even()) return start;
    return expr_of(ExprKind::kMin, start, site.rows - site.largest());
  }

  // The part of the rank as the first rows of a chunk of full size.
  ValueId padded_part(const OverlapSite& site) {
    const std::vector<OpRef>& from = at(site.at).from;
    const ShardType& type = shard(site.part);
    const ValueId padded =
        alloc(in_.value(site.part).name + "_padded",
              rows_type(site, type, site.dim, member_count(site) * site.largest()), from);
    launch(kernels_.of_op(OpKind::constant, "zeros", kernel_type(shard_of(padded)), 0, zero(type)),
           {}, {padded}, from);
    const ValueId own =
        out_.add_value(names_.fresh(in_.value(site.part).name + "_own"), Type(type));
    const IndexExpr start = expr_of(ExprKind::kMul, site.position, site.largest());
    const IndexExpr rows =
        expr_of(ExprKind::kMax, 0,
                expr_of(ExprKind::kMin, site.largest(), expr_of(ExprKind::kSub, site.rows, start)));
    add_view(own, padded, site.dim, 0, rows);
    copy(site.part, own, from);
    return padded;
  }

  void copy(ValueId in, ValueId out, const std::vector<OpRef>& from) {
    launch(kernels_.of_op(OpKind::maximum, "copy", kernel_type(shard_of(out)), 2), {in, in}, {out},
           from);
  }

  const ShardType& shard_of(ValueId v) const { return std::get<ShardType>(out_.value(v).type); }
  static TensorType kernel_type(const ShardType& t) { return {t.dtype, t.shape, t.sharding}; }
  static Attributes zero(const ShardType&) {
    Attributes out;
    out.set("value", 0.0);
    return out;
  }

  void communicate(size_t s) {
    const OverlapSite& site = sites_[s];
    const std::vector<OpRef>& from = at(site.at).from;
    const std::string& name = in_.value(site.whole).name;
    std::vector<Chunk>& chunks = chunks_[s];
    ValueId now = site.is_even() ? site.part : padded_part(site);
    if (choices_[s].overlap == Overlap::kCollectives) {
      chunks = cut_rows(s);
      for (Chunk& c : chunks) {
        // All members of a broadcast have as many rows.
        const int64_t sent = site.is_even() ? c.rows : site.largest();
        const ShardType type = rows_type(site, shard(site.whole), site.dim, sent);
        c.buffer = alloc(name + "_rows", type, from);
        collective(OpKind::broadcast, site, site.is_even() ? part_of(site, c) : now, c.buffer,
                   rooted(c.member));
        if (sent == c.rows) continue;
        c.buffer = view(c.buffer, rows_type(site, type, site.dim, c.rows), site.dim, 0, c.rows);
      }
      return;
    }
    const int64_t n = member_count(site);
    const ShardType ring_type = shard_of(now);
    for (int64_t t = 0; t < n; ++t) {
      const ValueId rows =
          reinterpreted(now, name + "_rows", local_rows(site, shard(site.whole), site.dim));
      chunks.push_back({window(site, member_before(site, t)), site.largest(), rows});
      if (t + 1 == n) break;
      const ValueId next = alloc(in_.value(site.part).name + "_ring", ring_type, from);
      permute(site, now, next);
      now = next;
    }
  }

  void permute(const OverlapSite& site, ValueId from, ValueId to) {
    Attributes attributes;
    attributes.set("shift", IndexExpr(1));
    collective(OpKind::permute, site, from, to, std::move(attributes));
  }

  // The rows of a chunk in the part of the rank that keeps them.
  ValueId part_of(const OverlapSite& site, const Chunk& c) {
    if (c.rows == site.sizes[c.member]) return site.part;
    ShardType type = shard(site.part);
    type.shape[site.dim] = c.rows * site.outer * member_count(site);
    return view(site.part, std::move(type), site.dim, c.within, c.rows);
  }

  // The launches of a gather for all chunks, or the one launch of a scatter or reduce.
  void compute(size_t s, const std::vector<size_t>& launches) {
    const OverlapSite& site = sites_[s];
    if (site.kind != SiteKind::kGather) {
      return choices_[s].overlap == Overlap::kRing ? ring_scatter(s) : scatter(s);
    }
    const auto moved = moved_allocs_.find(site.launches[launches.front()].at);
    if (launches.front() == 0 && moved != moved_allocs_.end()) {
      for (const ValueId v : moved->second) add_alloc(alloc_.at(v.index));
    }
    for (const Chunk& c : chunks_[s]) {
      for (const size_t n : launches) compute(s, site.launches[n], c);
    }
  }

  // One launch for one chunk. The chunk's buffer takes the place of the whole. In a ring all
  // operands are plain local tensors.
  void compute(size_t s, const ChunkedLaunch& l, const Chunk& c) {
    const OverlapSite& site = sites_[s];
    const bool local = choices_[s].overlap == Overlap::kRing;
    const auto rows_of = [&](ValueId buffer, std::optional<size_t> dim) {
      if (buffer == site.whole) return c.buffer;
      if (!dim) return local ? plain(buffer) : buffer;
      const auto larger = larger_.find(buffer.index);
      const bool pads = larger != larger_.end() && padded_.at(buffer.index).first == s;
      Type type = rows_type(site, shard(buffer), *dim, c.rows);
      if (local) type = local_rows(site, shard(buffer), *dim);
      return view(pads ? larger->second : buffer, std::move(type), *dim, c.start, c.rows);
    };
    std::vector<ValueId> reads = read_by(l.at);
    std::vector<ValueId> writes = written_by(l.at);
    for (size_t n = 0; n < reads.size(); ++n) {
      reads[n] = rows_of(reads[n], l.rows.dims[l.kernel->params[n].value.index]);
    }
    for (size_t n = 0; n < writes.size(); ++n) {
      writes[n] = rows_of(writes[n], result_dim(l, n));
    }
    launch(kernels_.of(l, local ? c.rows : c.rows * site.outer, local), reads, writes,
           at(l.at).from);
  }

  // A chunk of a ring as a plain tensor: which rows a rank has is in no layout.
  TensorType local_rows(const OverlapSite& site, ShardType type, size_t dim) const {
    type.sharding.dims[dim].axes.clear();
    TensorType out = *local_type(program_, Type(type));
    out.shape[dim] = site.largest();
    return out;
  }

  ValueId reinterpreted(ValueId buffer, const std::string& stem, Type type) {
    const ValueId made = out_.add_value(names_.fresh(stem), std::move(type));
    Instruction same = host_instruction(OpKind::reinterpret, {{"buffer", buffer}}, {}, {});
    same.results = {made};
    add(std::move(same));
    return made;
  }

  ValueId plain(ValueId buffer) {
    const auto [known, is_new] = plain_.try_emplace(buffer.index);
    if (is_new) {
      known->second = reinterpreted(buffer, in_.value(buffer).name + "_local",
                                    *local_type(program_, in_.value(buffer).type));
    }
    return known->second;
  }

  void scatter(size_t s) {
    const OverlapSite& site = sites_[s];
    const ShardType partial = shard(site.whole);
    const std::string& name = in_.value(site.whole).name;
    const std::vector<OpRef>& from = at(site.at).from;
    const ChunkedLaunch& l = site.launches.front();
    const bool scatters = site.kind == SiteKind::kScatter;
    ValueId kept;
    if (scatters) {
      kept = alloc(in_.value(site.part).name + "_blocks", blocks_type(site), from);
    } else {
      // The name of the partial sums becomes that of the reduced value, which everybody reads.
      std::get<ShardType>(out_.value(site.whole).type).sharding = *reduced_layout(site);
      add_alloc(alloc_.at(site.whole.index));
    }
    for (Chunk& c : cut_rows(s)) {
      if (scatters && !site.is_even()) {
        // All members of a reduce have as many rows.
        c.start = window(site, static_cast<int64_t>(c.member));
        c.rows = site.largest();
      }
      c.buffer = alloc(name + "_rows", rows_type(site, partial, site.dim, c.rows), from);
      compute(s, l, c);
      Attributes attributes;
      attributes.set("reduction", partial.sharding.unreduced_kind);
      if (scatters) {
        attributes.set("root", IndexExpr(static_cast<int64_t>(c.member)));
        collective(OpKind::reduce, site, c.buffer, block_view(site, kept, c),
                   std::move(attributes));
      } else {
        const ValueId out =
            view(site.whole, rows_type(site, shard_of(site.whole), site.dim, c.rows), site.dim,
                 c.start, c.rows);
        collective(OpKind::all_reduce, site, c.buffer, out, std::move(attributes));
      }
    }
    if (scatters) keep_rows(site, kept, block_dim(site));
  }

  // A reduce leaves its output undefined on ranks that are not its root, so there is a block for
  // every member. The blocks follow each other in a dimension in which each is contiguous.
  static size_t block_dim(const OverlapSite& site) { return site.contiguous ? site.dim : 0; }

  ShardType blocks_type(const OverlapSite& site) const {
    ShardType type = rows_type(site, shard(site.whole), site.dim, site.largest());
    type.sharding.unreduced.clear();
    type.sharding.unreduced_kind = Reduction::kSum;
    IndexExpr& extent = type.shape[block_dim(site)];
    extent = expr_of(ExprKind::kMul, extent, member_count(site));
    return type;
  }

  // The extent of one block in its dimension, on a rank.
  int64_t block_size(const OverlapSite& site) const {
    return site.contiguous ? site.largest() : shard(site.whole).shape[0].value();
  }

  ValueId block_view(const OverlapSite& site, ValueId blocks, const Chunk& c) {
    const size_t dim = block_dim(site);
    const int64_t size = block_size(site);
    ShardType type = rows_type(site, shard_of(blocks), site.dim, c.rows);
    if (dim != site.dim) type.shape[dim] = size;
    const int64_t start = static_cast<int64_t>(c.member) * size + c.within;
    return view(blocks, std::move(type), dim, start, dim == site.dim ? c.rows : size);
  }

  std::optional<Sharding> reduced_layout(const OverlapSite& site) const {
    for (const Operand& o : at(site.at).operands) {
      if (o.becomes) return o.becomes;
    }
    return shard(site.whole).sharding;
  }

  void ring_scatter(size_t s) {
    const OverlapSite& site = sites_[s];
    const std::string& name = in_.value(site.whole).name;
    const std::vector<OpRef>& from = at(site.at).from;
    const ChunkedLaunch& l = site.launches.front();
    const TensorType type = local_rows(site, shard(site.whole), site.dim);
    const OpKind op = combining(shard(site.whole).sharding.unreduced_kind);
    const int64_t n = member_count(site);
    if (site.is_even()) add_alloc(alloc_.at(site.part.index));
    ValueId arrived;
    for (int64_t t = 0; t < n; ++t) {
      const ValueId own = alloc(name + "_rows", type, from);
      compute(s, l, {window(site, member_before(site, t + 1)), site.largest(), own});
      ValueId sum = own;
      if (t > 0) {
        sum = t + 1 == n && site.is_even()
                  ? reinterpreted(site.part, in_.value(site.part).name + "_rows", type)
                  : alloc(name + "_sum", type, from);
        launch(kernels_.of_op(op, "combine", type, 2), {arrived, own}, {sum}, from);
      }
      if (t + 1 < n) {
        arrived = alloc(name + "_ring", type, from);
        permute(site, sum, arrived);
      } else if (!site.is_even()) {
        keep_rows(site, sum, {});
      }
    }
  }

  // Takes the rank's part out of the window that has it, or of its block among those of all members
  // in dimension `blocks`.
  void keep_rows(const OverlapSite& site, ValueId chunk, std::optional<size_t> blocks) {
    const IndexExpr own = expr_of(ExprKind::kMul, site.position, site.largest());
    const IndexExpr begin = expr_of(ExprKind::kMin, own, site.rows);
    const IndexExpr end =
        expr_of(ExprKind::kMin, expr_of(ExprKind::kAdd, own, site.largest()), site.rows);
    const IndexExpr first = window(site, site.position);
    IndexExpr start = expr_of(ExprKind::kSub, begin, first);
    IndexExpr limit = expr_of(ExprKind::kSub, end, first);
    if (blocks) {
      const IndexExpr block = expr_of(ExprKind::kMul, site.position, block_size(site));
      if (*blocks == site.dim) {
        start = expr_of(ExprKind::kAdd, start, block);
        limit = expr_of(ExprKind::kAdd, limit, block);
      } else {
        ShardType type = shard_of(chunk);
        type.shape[*blocks] = block_size(site);
        chunk = view(chunk, std::move(type), *blocks, block, block_size(site));
      }
    }
    const ValueId rows =
        out_.add_value(names_.fresh(in_.value(site.part).name + "_own"), shard(site.part));
    add_view(rows, chunk, site.dim, start, limit);
    add_alloc(alloc_.at(site.part.index));
    copy(rows, site.part, at(site.at).from);
  }

  static OpKind combining(Reduction reduction) {
    switch (reduction) {
      case Reduction::kProd:
        return OpKind::mul;
      case Reduction::kMin:
        return OpKind::minimum;
      case Reduction::kMax:
        return OpKind::maximum;
      case Reduction::kSum:
      case Reduction::kAvg:
        break;
    }
    return OpKind::add;
  }

  const Program& program_;
  const Function& in_;
  const std::vector<InstrId>& body_;
  const std::vector<OverlapSite>& sites_;
  const std::vector<Choice>& choices_;
  ChunkKernels& kernels_;
  UniqueNames names_;
  Function out_;
  ValueId stream_;
  std::vector<std::vector<Chunk>> chunks_;          // by site: what a gather has made
  std::map<uint32_t, std::vector<size_t>> writes_;  // by value: indices in the body
  std::map<uint32_t, size_t> alloc_;                // by value
  std::set<size_t> dropped_;
  struct Todo {
    size_t site;
    std::vector<size_t> launches;  // of the site; empty: the collectives of a gather
  };
  std::map<size_t, std::vector<Todo>> todo_;
  std::map<size_t, std::vector<ValueId>> moved_allocs_;   // launch -> allocs that move up to it
  std::map<uint32_t, std::pair<size_t, size_t>> padded_;  // by value: site, dimension
  std::map<uint32_t, ValueId> plain_;                     // by value: its memory as a plain tensor
  std::map<uint32_t, ValueId> larger_;                    // by value: what it is a view of
};

// When a host function is expected to end: kernels on one engine, collectives on another, each in
// the order of the text, after what they depend on and after the host has issued them.
double expected_ns(const Program& program, const Function& host, const Machine& machine) {
  TaskTimes times(program, host, machine);
  const std::vector<ValueId> memory = buffers_behind(host);
  struct Done {
    double written = 0;
    double read = 0;
  };
  std::vector<Done> done(host.values.size());
  std::array<double, 2> engines = {};
  double issued = 0;
  double end = 0;
  for (const InstrId id : host.region(host.body).instructions) {
    const Instruction& i = host.instr(id);
    issued += machine.issue_ns;
    const bool communicates = record(i.kind).op_class == OpClass::kCommunication;
    if (!communicates && i.kind != OpKind::launch) continue;
    const std::vector<BufferUse> uses = buffer_uses(host, i, memory);
    double& engine = engines[communicates ? 1 : 0];
    double start = std::max(issued, engine);
    for (const BufferUse& use : uses) {
      const Done& d = done[use.buffer.index];
      start = std::max(start, d.written);
      if (use.access != Access::kRead) start = std::max(start, d.read);
    }
    engine = start + (communicates ? times.collective(i).ns : times.launch_ns(i));
    for (const BufferUse& use : uses) {
      Done& d = done[use.buffer.index];
      double& at = use.access == Access::kRead ? d.read : d.written;
      at = std::max(at, engine);
    }
    end = std::max(end, engine);
  }
  return end;
}

class Overlapper {
 public:
  Overlapper(Program& program, const std::string& host, const OverlapRequest& request,
             Explanation& explanation)
      : program_(program),
        work_(program),
        host_(*program.find_function(host)),
        request_(request),
        found_(find_overlap_sites(program, request.source, host_)),
        kernels_(program),
        choices_(found_.sites.size()),
        explanation_(explanation) {}

  /// The values whose provenance no longer holds.
  std::set<std::string> run() {
    for (const RefusedSite& r : found_.refused) {
      explain(r.at, "not overlapped: " + r.problem);
    }
    std::set<std::string> cut;
    if (found_.sites.empty()) return cut;
    for (size_t s = 0; s < found_.sites.size(); ++s) decide(s);
    const bool any = std::any_of(choices_.begin(), choices_.end(),
                                 [](const Choice& c) { return c.overlap != Overlap::kNone; });
    if (!any) return cut;
    Function made = rewritten();
    for (size_t s = 0; s < found_.sites.size(); ++s) {
      const OverlapSite& site = found_.sites[s];
      if (choices_[s].overlap == Overlap::kNone) continue;
      for (const ValueId v : {site.part, site.whole}) {
        if (v.valid() && host_.value(v).defined_by.valid()) cut.insert(host_.value(v).name);
      }
      for (const ChunkedLaunch& l : site.launches) {
        const Instruction& i = host_.instr(host_.region(host_.body).instructions[l.at]);
        for (const ValueId w : operands_in_slot(i, slot_index(i.kind, "writes"))) {
          cut.insert(host_.value(w).name);
        }
      }
    }
    install(std::move(made));
    return cut;
  }

 private:
  const Instruction& at(size_t index) const {
    return host_.instr(host_.region(host_.body).instructions[index]);
  }

  Function rewritten() { return Rewriter(program_, host_, found_.sites, choices_, kernels_).run(); }

  double predicted() {
    const Function made = rewritten();
    for (; known_ < kernels_.order().size(); ++known_) {
      work_.add_function(kernels_.at(kernels_.order()[known_]));
    }
    return expected_ns(work_, made, request_.machine);
  }

  std::vector<Choice> ways(const OverlapSite& site) const {
    std::vector<Choice> out;
    const bool any = request_.overlap == Overlap::kAuto;
    if (any) out.push_back({});
    if (any || request_.overlap == Overlap::kRing) {
      if (site.no_ring.empty()) out.push_back({Overlap::kRing, 1});
    }
    // Where there is no ring, `ring` takes collectives.
    if (request_.overlap == Overlap::kRing && !out.empty()) return out;
    const bool is_reduce = site.kind == SiteKind::kReduce;
    const bool pieces = site.contiguous && (is_reduce || site.is_even());
    const int64_t rows = is_reduce ? site.rows : site.largest();
    if (is_reduce && !site.contiguous) return out;
    if (site.kind == SiteKind::kScatter && !site.contiguous) {
      const auto& type = std::get<ShardType>(host_.value(site.whole).type);
      if (!type.sharding.dims.front().axes.empty()) return out;
    }
    for (const int64_t n :
         is_reduce ? std::array<int64_t, 3>{2, 4, 8} : std::array<int64_t, 3>{1, 2, 4}) {
      if (n == 1 || (pieces && n <= rows)) out.push_back({Overlap::kCollectives, n});
    }
    return out;
  }

  // Sites with equal signatures are done in the same way.
  std::string signature(const OverlapSite& site) const {
    std::string out =
        fmt::format("{} {} {} ", static_cast<int>(site.kind), site.dim, fmt::join(site.sizes, ","));
    for (const ValueId v : {site.part, site.whole}) {
      if (v.valid()) out += to_string(host_.value(v).type) + " ";
    }
    for (const ChunkedLaunch& l : site.launches) out += l.kernel->name + " ";
    return out;
  }

  void decide(size_t s) {
    const OverlapSite& site = found_.sites[s];
    const std::string key = signature(site);
    const auto known = decided_.find(key);
    if (known != decided_.end()) {
      choices_[s] = known->second;
      return explain(site.at, fmt::format("{}, as the same one before", text(site, choices_[s])));
    }
    const std::vector<Choice> all = ways(site);
    if (all.empty()) {
      return explain(site.at, "not overlapped: its rows are strided and there is no ring");
    }
    std::vector<double> times;
    choices_[s] = {};
    const double without = predicted();
    for (const Choice& way : all) {
      choices_[s] = way;
      times.push_back(way.overlap == Overlap::kNone ? without : predicted());
    }
    const auto best =
        static_cast<size_t>(std::min_element(times.begin(), times.end()) - times.begin());
    choices_[s] = all[best];
    decided_[key] = all[best];
    std::string others = fmt::format("as it is {}", time_text(without));
    for (size_t w = 0; w < all.size(); ++w) {
      if (all[w].overlap == Overlap::kNone) continue;
      others += fmt::format(", {} {}", text(site, all[w]), time_text(times[w]));
    }
    if (!site.no_ring.empty()) others += "; no ring: " + site.no_ring;
    explain(site.at, fmt::format("{}; the function is expected to take: {}",
                                 text(site, choices_[s]), others));
  }

  static std::string text(const OverlapSite& site, const Choice& choice) {
    const auto members = static_cast<int64_t>(site.sizes.size());
    switch (choice.overlap) {
      case Overlap::kRing:
        return fmt::format("ring of {}", members);
      case Overlap::kCollectives:
        return fmt::format("collectives in {} chunks",
                           (site.kind == SiteKind::kReduce ? 1 : members) * choice.pieces);
      case Overlap::kNone:
      case Overlap::kAuto:
        break;
    }
    return "not overlapped";
  }

  void explain(size_t index, std::string sentence) {
    const Instruction& i = at(index);
    std::string from;
    for (const OpRef& ref : i.from) from = fmt::format("@{}#{}", ref.function, ref.number);
    explanation_.push_back({request_.value_of(i), std::string(record(i.kind).mnemonic),
                            std::move(sentence), std::move(from), "overlap"});
  }

  // Puts the function into the program, its kernels before it; the kernels that nobody launches any
  // more go.
  void install(Function made) {
    const auto launched = [](const Function& f) {
      std::set<std::string> out;
      for (const Instruction& i : f.instructions) {
        const auto* kernel = i.attributes.get<Symbol>("kernel");
        if (kernel != nullptr) out.insert(kernel->name);
      }
      return out;
    };
    const std::set<std::string> before = launched(host_);
    const std::set<std::string> after = launched(made);
    Program out = program_;
    out.functions.clear();
    std::erase_if(out.order,
                  [](const Program::Piece& p) { return p.kind == Program::PieceKind::kFunction; });
    std::vector<Program::Piece> order;
    for (const Program::Piece& piece : program_.order) {
      if (piece.kind != Program::PieceKind::kFunction) {
        order.push_back(piece);
        continue;
      }
      Function f = program_.functions[piece.index];
      const bool stale = before.count(f.name) != 0 && after.count(f.name) == 0 &&
                         request_.source.find_function(f.name) == nullptr;
      if (stale) continue;
      const auto put = [&](Function function) {
        Program::Piece now = piece;
        now.index = static_cast<uint32_t>(out.functions.size());
        out.functions.push_back(std::move(function));
        order.push_back(std::move(now));
      };
      if (f.name == made.name) {
        for (Function& kernel : kernels_.take(after)) put(std::move(kernel));
        f = std::move(made);
      }
      put(std::move(f));
    }
    out.order = std::move(order);
    program_ = std::move(out);
  }

  Program& program_;
  Program work_;  // with all kernels tried
  const Function host_;
  const OverlapRequest& request_;
  OverlapSites found_;
  ChunkKernels kernels_;
  std::vector<Choice> choices_;
  size_t known_ = 0;  // kernels that are in `work_`
  std::map<std::string, Choice> decided_;
  Explanation& explanation_;
};

}  // namespace

std::optional<Overlap> overlap_named(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, Overlap>, 4> kWords = {
      {{"none", Overlap::kNone},
       {"collectives", Overlap::kCollectives},
       {"ring", Overlap::kRing},
       {"auto", Overlap::kAuto}}};
  for (const auto& [name, overlap] : kWords) {
    if (name == word) return overlap;
  }
  return std::nullopt;
}

void overlap_collectives(Program& program, const std::string& host, const OverlapRequest& request,
                         std::vector<Provenance>& provenance, Explanation& explanation) {
  if (request.overlap == Overlap::kNone) return;
  const std::set<std::string> cut = Overlapper(program, host, request, explanation).run();
  std::erase_if(provenance, [&](const Provenance& p) { return cut.count(p.buffer) != 0; });
}

}  // namespace hostir
