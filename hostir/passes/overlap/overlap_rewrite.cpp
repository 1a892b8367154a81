#include "hostir/passes/overlap/overlap_rewrite.h"

#include <algorithm>

#include "hostir/ir/compact.h"
#include "hostir/passes/host/host_builder.h"

namespace hostir {

namespace {

using SiteKind = OverlapSite::Kind;

// Some rows of the whole: a range, the buffer that holds them, and who sends or keeps them.
struct Chunk {
  IndexExpr start;
  int64_t rows = 0;
  ValueId buffer;
  size_t member = 0;
  int64_t within = 0;  // the first row in the member's block
};

class Rewriter {
 public:
  Rewriter(const Program& program, const Function& host, const std::vector<OverlapSite>& sites,
           const std::vector<OverlapChoice>& choices, ChunkKernels& kernels)
      : program_(program),
        in_(host),
        body_(host.region(host.body).instructions),
        sites_(sites),
        choices_(choices),
        kernels_(kernels),
        plan_(plan_overlap(host, sites, choices)),
        names_(host),
        chunks_(sites.size()) {}

  std::optional<Function> run() {
    out_ = with_empty_body(in_);
    for (size_t at = 0; at < body_.size(); ++at) {
      const auto rewrites = plan_.rewrites.find(at);
      if (rewrites != plan_.rewrites.end()) {
        for (const auto& [site, launches] : rewrites->second) {
          if (launches.empty())
            communicate(site);
          else
            compute(site, launches);
        }
      }
      if (plan_.dropped.count(at) == 0) add_original(at);
    }
    if (!has_kernels_) return std::nullopt;
    return compacted(std::move(out_));
  }

 private:
  const Instruction& at(size_t index) const { return in_.instr(body_[index]); }
  const ShardType& shard(ValueId v) const { return std::get<ShardType>(in_.value(v).type); }

  // --- instructions

  void add(Instruction i) { out_.add_instruction(out_.body, std::move(i)); }

  void add_original(size_t index) {
    const Instruction& i = at(index);
    if (i.kind == OpKind::alloc) return add_alloc(index);
    if (i.kind == OpKind::stream && !stream_.valid()) stream_ = i.results.front();
    add(with_regions_in(out_, in_, i));
  }

  // Adds the alloc of a buffer. If a ring pads its rows, the buffer is a view of a larger one.
  void add_alloc(size_t index) {
    const Instruction& i = at(index);
    const ValueId value = i.results.front();
    const auto padded = plan_.padded.find(value.index);
    if (padded == plan_.padded.end()) return add(i);
    const auto& [s, dim] = padded->second;
    const OverlapSite& site = sites_[s];
    const ValueId large =
        alloc(in_.value(value).name + "_padded",
              rows_type(site, shard(value), dim, member_count(site) * site.largest()), i.from);
    larger_[value.index] = large;
    add_view(value, large, dim, 0, site.rows);
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
    add_view(made, buffer, dim, start, expr_of(IndexExpr::Kind::kAdd, start, rows));
    return made;
  }

  void launch(const Function& kernel, const std::vector<ValueId>& reads,
              const std::vector<ValueId>& writes, const std::vector<OpRef>& from) {
    add(launch_instruction(kernel.name, reads, writes, stream_, from));
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

  // Copies the rank's part to the first rows of a chunk of full size.
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
    const auto [begin, end] = block_of(site, site.position);
    add_view(own, padded, site.dim, 0, expr_of(IndexExpr::Kind::kSub, end, begin));
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
        // All members of a broadcast have equally many rows.
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
    const auto moved = plan_.moved_allocs.find(site.launches[launches.front()].at);
    if (launches.front() == 0 && moved != plan_.moved_allocs.end()) {
      for (const ValueId v : moved->second) add_alloc(plan_.alloc.at(v.index));
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
    const auto rows_of = [&](ValueId buffer, std::optional<size_t> dim, ValueId inside) {
      if (buffer == site.whole) return c.buffer;
      if (!dim) return local ? plain(buffer) : buffer;
      const auto larger = larger_.find(buffer.index);
      const bool pads = larger != larger_.end() && plan_.padded.at(buffer.index).first == s;
      ShardType now = shard(buffer);
      // An all_reduce in place changes what a buffer holds, but not the type of its alloc.
      now.sharding->unreduced = sharding_of(l.kernel->value(inside).type)->unreduced;
      Type type = rows_type(site, now, *dim, c.rows);
      if (local) type = local_rows(site, now, *dim);
      return view(pads ? larger->second : buffer, std::move(type), *dim, c.start, c.rows);
    };
    std::vector<ValueId> reads = read_by(in_, l.at);
    std::vector<ValueId> writes = written_by(in_, l.at);
    for (size_t n = 0; n < reads.size(); ++n) {
      const ValueId inside = l.kernel->params[n].value;
      reads[n] = rows_of(reads[n], l.rows.dims[inside.index], inside);
    }
    for (size_t n = 0; n < writes.size(); ++n) {
      writes[n] = rows_of(writes[n], result_dim(l, n), returned(l, n));
    }
    const Function* kernel = kernels_.of(l, local ? c.rows : c.rows * site.outer, local);
    if (kernel == nullptr) {
      has_kernels_ = false;
    } else {
      launch(*kernel, reads, writes, at(l.at).from);
    }
  }

  // A chunk of a ring as a plain tensor, because no layout says which rows a rank has.
  TensorType local_rows(const OverlapSite& site, ShardType type, size_t dim) const {
    type.sharding->dims[dim].axes.clear();
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
      // The reduced value takes over the name of the partial sums, because later instructions read
      // that name.
      std::get<ShardType>(out_.value(site.whole).type).sharding = *reduced_layout(site);
      add_alloc(plan_.alloc.at(site.whole.index));
    }
    for (Chunk& c : cut_rows(s)) {
      if (scatters && !site.is_even()) {
        // All members of a reduce have equally many rows.
        c.start = window(site, static_cast<int64_t>(c.member));
        c.rows = site.largest();
      }
      c.buffer = alloc(name + "_rows", rows_type(site, partial, site.dim, c.rows), from);
      compute(s, l, c);
      Attributes attributes;
      attributes.set("reduction", partial.sharding->unreduced_kind);
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
    type.sharding->unreduced.clear();
    type.sharding->unreduced_kind = Reduction::kSum;
    IndexExpr& extent = type.shape[block_dim(site)];
    extent = expr_of(IndexExpr::Kind::kMul, extent, member_count(site));
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

  SharedSharding reduced_layout(const OverlapSite& site) const {
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
    const OpKind op = combining(shard(site.whole).sharding->unreduced_kind);
    const int64_t n = member_count(site);
    if (site.is_even()) add_alloc(plan_.alloc.at(site.part.index));
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

  // Takes the rank's part out of the window that contains it, or out of the blocks of all members
  // in dimension `blocks`.
  void keep_rows(const OverlapSite& site, ValueId chunk, std::optional<size_t> blocks) {
    const auto [begin, end] = block_of(site, site.position);
    const IndexExpr first = window(site, site.position);
    IndexExpr start = expr_of(IndexExpr::Kind::kSub, begin, first);
    IndexExpr limit = expr_of(IndexExpr::Kind::kSub, end, first);
    if (blocks) {
      const IndexExpr block = expr_of(IndexExpr::Kind::kMul, site.position, block_size(site));
      if (*blocks == site.dim) {
        start = expr_of(IndexExpr::Kind::kAdd, start, block);
        limit = expr_of(IndexExpr::Kind::kAdd, limit, block);
      } else {
        ShardType type = shard_of(chunk);
        type.shape[*blocks] = block_size(site);
        chunk = view(chunk, std::move(type), *blocks, block, block_size(site));
      }
    }
    const ValueId rows =
        out_.add_value(names_.fresh(in_.value(site.part).name + "_own"), shard(site.part));
    add_view(rows, chunk, site.dim, start, limit);
    add_alloc(plan_.alloc.at(site.part.index));
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
  const std::vector<OverlapChoice>& choices_;
  ChunkKernels& kernels_;
  const OverlapPlan plan_;
  UniqueNames names_;
  Function out_;
  ValueId stream_;
  bool has_kernels_ = true;                 // for all chunks
  std::vector<std::vector<Chunk>> chunks_;  // by site: the chunks of a gather
  std::map<uint32_t, ValueId> plain_;       // by value: its memory as a plain tensor
  std::map<uint32_t, ValueId> larger_;      // by value: the value that it is a view of
};

}  // namespace

std::optional<Function> rewrite_sites(const Program& program, const Function& host,
                                      const std::vector<OverlapSite>& sites,
                                      const std::vector<OverlapChoice>& choices,
                                      ChunkKernels& kernels) {
  return Rewriter(program, host, sites, choices, kernels).run();
}

}  // namespace hostir
