#include "interp/session/values/value_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "hostir/ops/record.h"
#include "hostir/support/hash.h"
#include "interp/core/communication_facts.h"
#include "interp/core/loop_paths.h"

namespace hostir::interp {

namespace {

double rounding_of(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 1e-12;
    case DType::kF32:
      return 1e-5;
    case DType::kBF16:
    case DType::kF16:
      return 1e-2;
    default:
      return is_float(dtype) ? std::ldexp(1, -facts_of(dtype).mantissa_bits) : 0;
  }
}

bool is_combining(OpKind kind) {
  const OpRecord& op = record(kind);
  return std::any_of(op.attributes.begin(), op.attributes.end(), [](const AttributeSpec& a) {
    return a.type == AttributeSpec::Type::kReduction;
  });
}

// True if the op gives equal outputs to all members. False for a rooted reduce, which writes only
// the root's output, and for send and recv, where each rank has its own value.
bool writes_alike(OpKind kind) {
  const CommunicationFacts* facts = communication_facts(kind);
  return facts == nullptr ||
         (!facts->point_to_point && facts->root != CommunicationFacts::RootHas::kOutput);
}

// True if the op reads all bytes of the operand. A broadcast or a permute does not read every
// rank's.
bool reads_all(OpKind kind, Access access) {
  const CommunicationFacts* facts = communication_facts(kind);
  if (facts == nullptr) return true;
  if (facts->point_to_point || facts->root != CommunicationFacts::RootHas::kNothing) return false;
  return facts->in == CommunicationFacts::Part::kWhole ||
         (facts->in == CommunicationFacts::Part::kBlock && access == Access::kRead);
}

}  // namespace

std::optional<Difference> first_difference(const Tensor& a, const Tensor& b) {
  if (a.data == b.data || a.dtype != b.dtype || a.data.size() != b.data.size()) return std::nullopt;
  const auto bytes = static_cast<size_t>(size_bytes(a.dtype));
  const size_t count = a.data.size() / bytes;
  Difference out{-1, true};
  double largest = 0;
  double apart = 0;
  for (size_t i = 0; i < count; ++i) {
    const double x = a.get_double(static_cast<int64_t>(i));
    const double y = b.get_double(static_cast<int64_t>(i));
    if (std::memcmp(a.data.data() + i * bytes, b.data.data() + i * bytes, bytes) != 0) {
      if (out.element < 0) out.element = static_cast<int64_t>(i);
      if (!std::isfinite(x) || !std::isfinite(y)) out.rounding = false;
      apart = std::max(apart, std::abs(x - y));
    }
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  }
  if (out.element < 0) return std::nullopt;
  if (!(apart <= largest * rounding_of(a.dtype))) out.rounding = false;
  return out;
}

void ValueWatch::attach(const Interpreter& interpreter) {
  interpreter_ = &interpreter;
  open_reads_.resize(static_cast<size_t>(interpreter.code().rank_count));
  open_writes_.resize(static_cast<size_t>(interpreter.code().rank_count));
}

LayoutIndex ValueWatch::repeating(LayoutIndex layout) {
  if (layout == kNoLayout) return kNoLayout;
  const auto [at, added] = repeats_.try_emplace(layout);
  Replicas& replicas = at->second;
  if (!added) return replicas.by_rank.empty() ? kNoLayout : layout;
  const LayoutTable& table = interpreter_->code().layouts[layout];
  const auto* shard = std::get_if<ShardType>(&table.type);
  if (shard == nullptr || shard->sharding->is_partial() || !table.is_static()) return kNoLayout;
  std::map<std::vector<int64_t>, std::pair<Rank, uint32_t>> holders;
  const auto key = [&](size_t r) {
    std::vector<int64_t> bounds = table.by_rank[r].box.lo;
    bounds.insert(bounds.end(), table.by_rank[r].box.hi.begin(), table.by_rank[r].box.hi.end());
    return bounds;
  };
  // A value without dimensions also has a box on ranks outside its mesh.
  const Mesh* mesh = interpreter_->code().program->find_mesh(shard->sharding->mesh);
  const auto holds = [&](size_t r) {
    return !table.by_rank[r].box.empty() &&
           (mesh == nullptr || mesh->position_of(static_cast<int64_t>(r)));
  };
  bool repeats = false;
  for (size_t r = 0; r < table.by_rank.size(); ++r) {
    if (!holds(r)) continue;
    auto& [least, count] = holders.try_emplace(key(r), static_cast<Rank>(r), 0U).first->second;
    repeats = ++count > 1 || repeats;
  }
  if (!repeats) return kNoLayout;
  for (size_t r = 0; r < table.by_rank.size(); ++r) {
    const auto found = holds(r) ? holders.find(key(r)) : holders.end();
    replicas.by_rank.push_back(found == holders.end() ? std::pair{static_cast<Rank>(r), 1U}
                                                      : found->second);
  }
  return layout;
}

void ValueWatch::note_uses(const IssuedRecord& issued, Pending& out) {
  const Code& code = interpreter_->code();
  const CodeInstruction& c = code.instructions[issued.code];
  const std::vector<Operand>& operands = code.source(issued.code).operands;
  const Site site{issued.code, issued.loop_path, issued.decision};
  for (size_t o = 0; o < c.operands.size() && o < operands.size(); ++o) {
    const Access access = operands[o].access;
    if (c.operands[o] == kNoRegister || access == Access::kUse) continue;
    const auto ref = interpreter_->buffer(issued.rank, c.operands[o]);
    if (!ref) continue;
    if (access != Access::kWrite && reads_all(c.kind, access)) {
      const LayoutIndex layout = repeating(c.layouts[o]);
      if (layout != kNoLayout) out.reads.push_back({site, o, *ref, layout});
    }
    if (access == Access::kRead) continue;
    const LayoutIndex after = c.becomes[o] != kNoLayout ? c.becomes[o] : c.layouts[o];
    out.writes.push_back({site, o, *ref, writes_alike(c.kind) ? repeating(after) : kNoLayout});
  }
}

void ValueWatch::issued(const IssuedRecord& record) {
  if (next_ != nullptr) next_->issued(record);
  if (interpreter_ == nullptr) return;
  const OpRecord& op = hostir::record(interpreter_->code().instructions[record.code].kind);
  const bool works = op.role == HostRole::kLaunch || op.op_class == OpClass::kCommunication;
  const auto r = static_cast<size_t>(record.rank);
  if (works && record.task == kNoTask) {
    Pending member;
    note_uses(record, member);
    open_reads_[r].insert(open_reads_[r].end(), member.reads.begin(), member.reads.end());
    open_writes_[r].insert(open_writes_[r].end(), member.writes.begin(), member.writes.end());
  } else if (works) {
    Pending uses;
    note_uses(record, uses);
    if (!uses.writes.empty()) pending_[record.task] = std::move(uses);
  } else if (record.task != kNoTask && !open_writes_[r].empty()) {
    pending_[record.task] = {std::move(open_reads_[r]), std::move(open_writes_[r])};
    open_reads_[r].clear();
    open_writes_[r].clear();
  }
}

std::vector<ValueWatch::Piece>& ValueWatch::pieces(Rank rank, AllocationId allocation) {
  return contents_[{rank, allocation.index}];
}

const ValueWatch::Piece* ValueWatch::piece(Rank rank, const BufferRef& ref) const {
  const auto found = contents_.find({rank, ref.allocation.index});
  if (found == contents_.end()) return nullptr;
  for (const Piece& p : found->second) {
    if (p.lo == ref.offset_bytes && p.hi == ref.offset_bytes + ref.size_bytes) return &p;
  }
  return nullptr;
}

void ValueWatch::value(const ValueSummary& summary) {
  if (next_ != nullptr && forward_ == Forward::kValues) next_->value(summary);
  const auto found = pending_.find(summary.task);
  if (found == pending_.end()) return;
  Pending& task = found->second;
  if (summary.operand >= task.writes.size()) return;
  for (const Use& read : task.reads) {
    if (const Piece* now = piece(summary.rank, read.ref))
      compare(summary.rank, read, now->digest, now->writer, true);
  }
  task.reads.clear();
  const Use& write = task.writes[summary.operand];
  if (write.ref.allocation != summary.allocation) return;
  const int64_t lo = write.ref.offset_bytes;
  const int64_t hi = lo + write.ref.size_bytes;
  std::vector<Piece>& known = pieces(summary.rank, summary.allocation);
  std::erase_if(known, [&](const Piece& p) { return p.lo < hi && lo < p.hi; });
  known.push_back({lo, hi, summary.digest, write.site});
  if (write.layout != kNoLayout) compare(summary.rank, write, summary.digest, write.site, false);
  note_birth(summary, write);
  if (summary.operand + 1U == task.writes.size()) pending_.erase(found);
}

void ValueWatch::compare(Rank rank, const Use& use, uint64_t digest, const Site& writer,
                         bool is_read) {
  const auto [least, holders] = repeats_.at(use.layout).by_rank[static_cast<size_t>(rank)];
  if (holders < 2) return;
  const std::tuple key(use.site.code, use.site.path, 2 * use.operand + (is_read ? 1U : 0U), least);
  const auto [at, is_first] =
      holders_.try_emplace(key, Holder{rank, digest, writer, use.ref, holders, std::nullopt});
  Holder& first = at->second;
  if (is_first && keeps(use.ref.placement))
    first.kept = read(rank, use.ref, use.ref.placement, digest);
  if (!is_first && first.digest != digest) part(use, first, rank, writer, digest);
  if (--first.missing == 0) holders_.erase(at);
}

bool ValueWatch::keeps(const Placement* placement) const {
  constexpr int64_t kMostBytes = 1024;
  const bool reads_at_once = interpreter_->backend().capabilities().clock == ClockDomain::kVirtual;
  return reads_at_once && placement != nullptr && placement->local_bytes() <= kMostBytes;
}

std::optional<Tensor> ValueWatch::read(Rank rank, const BufferRef& ref, const Placement* placement,
                                       uint64_t digest) const {
  if (placement == nullptr) return std::nullopt;
  auto value = interpreter_->backend().read(rank, ref, placement->box);
  if (!value || hash_of(value->data) != digest) return std::nullopt;
  return std::move(*value);
}

void ValueWatch::part(const Use& use, const Holder& first, Rank rank, const Site& writer,
                      uint64_t digest) {
  const uint64_t decision = std::min(first.writer.decision, writer.decision);
  if (parting_ && parting_->decision <= decision) return;
  Parting parting{use, {first.rank, rank}, {first.writer, writer}, "", decision, false};
  const Placement* placement = use.ref.placement;
  // The first rank may have overwritten or freed the buffer since.
  const auto a = first.kept ? first.kept : read(first.rank, first.ref, placement, first.digest);
  const auto b = read(rank, use.ref, placement, digest);
  const auto apart = a && b ? first_difference(*a, *b) : std::nullopt;
  if (apart) {
    parting.rounding = apart->rounding;
    parting.values = fmt::format("{:.9g} and {:.9g} at [{}]", a->get_double(apart->element),
                                 b->get_double(apart->element),
                                 fmt::join(placement->box.index_at(apart->element), ", "));
  }
  parting_ = std::move(parting);
}

void ValueWatch::note_birth(const ValueSummary& summary, const Use& use) {
  const OpKind kind = interpreter_->code().instructions[use.site.code].kind;
  // A rooted reduce computes only on its root; the other ranks' outputs keep their contents.
  const bool computes =
      record(kind).role == HostRole::kLaunch || (is_combining(kind) && writes_alike(kind));
  const bool nan = summary.nan_count > 0 && !nan_;
  const bool infinity = summary.inf_count > 0 && !infinity_;
  if (!computes || (!nan && !infinity)) return;
  const CodeInstruction& c = interpreter_->code().instructions[use.site.code];
  const LayoutIndex after =
      c.becomes[use.operand] != kNoLayout ? c.becomes[use.operand] : c.layouts[use.operand];
  BufferRef ref = use.ref;
  if (after != kNoLayout && interpreter_->code().layouts[after].is_static())
    ref.placement = &interpreter_->code().layouts[after].by_rank[static_cast<size_t>(summary.rank)];
  Birth birth{summary.rank, use, ""};
  if (ref.placement != nullptr) {
    const auto written = interpreter_->backend().read(summary.rank, ref, ref.placement->box);
    const int64_t count = written ? ref.placement->box.volume() : 0;
    for (int64_t i = 0; i < count; ++i) {
      const double v = written->get_double(i);
      if (nan ? !std::isnan(v) : !std::isinf(v)) continue;
      birth.place = fmt::format("[{}]", fmt::join(ref.placement->box.index_at(i), ", "));
      break;
    }
  }
  (nan ? nan_ : infinity_) = std::move(birth);
}

std::string ValueWatch::site_text(const Site& site) const {
  if (site.code == kNoCode) return "the input";
  const Code& code = interpreter_->code();
  const OpRecord& op = record(code.instructions[site.code].kind);
  std::string out = fmt::format("{} {}", code.address(site.code), op.mnemonic);
  const auto* kernel = code.source(site.code).attributes.get<Symbol>("kernel");
  if (kernel != nullptr) out += " @" + kernel->name;
  const std::string path = interpreter_->loop_paths().to_string(code, site.path);
  return path.empty() ? out : fmt::format("{} ({})", out, path);
}

void ValueWatch::add_site(Fault& fault, Rank rank, const Site& site) const {
  if (site.code == kNoCode) return;
  const Code& code = interpreter_->code();
  fault.record.instructions.push_back(code.address(site.code));
  fault.record.notes.push_back(fmt::format("rank {}: {}", rank, site_text(site)));
  fault.spans.push_back(code.source(site.code).span);
}

std::string ValueWatch::origin_text(const Parting& p) const {
  if (p.writers[0].same_visit(p.writers[1]))
    return "they first differ at " + site_text(p.writers[0]);
  return fmt::format("they first differ at {} on rank {}, while rank {} still holds {}{}",
                     site_text(p.writers[1]), p.ranks[1], p.ranks[0],
                     p.writers[0].code == kNoCode ? "" : "the result of ", site_text(p.writers[0]));
}

std::optional<Fault> ValueWatch::parting() const {
  if (!parting_) return std::nullopt;
  const Parting& p = *parting_;
  const Code& code = interpreter_->code();
  const CodeInstruction& c = code.instructions[p.use.site.code];
  const Sharding& sharding = *std::get<ShardType>(code.layouts[p.use.layout].type).sharding;
  const std::string buffer = code.register_name(c.operands[p.use.operand]);
  const std::string values = p.values.empty() ? "hold different values" : "hold " + p.values;
  Fault fault;
  fault.fatal = false;
  fault.severity = p.rounding ? Severity::kWarning : Severity::kError;
  fault.record.kind = "replicas_differ";
  fault.record.ranks = {p.ranks[0], p.ranks[1]};
  fault.record.sentence = fmt::format(
      "ranks {} and {} hold the same part of {} by its layout {}, but {}{}: {}", p.ranks[0],
      p.ranks[1], buffer, sharding.to_string(), values,
      p.rounding ? ", within rounding error (the same numbers added in another order?)" : "",
      origin_text(p));
  // If only one of the ranks executed an instruction of its own, that is the origin.
  const bool one = p.writers[0].same_visit(p.writers[1]);
  const size_t later =
      p.writers[0].code == kNoCode || (!one && p.writers[0].decision < p.writers[1].decision) ? 1
                                                                                              : 0;
  add_site(fault, p.ranks[later], p.writers[later]);
  if (!one) add_site(fault, p.ranks[1 - later], p.writers[1 - later]);
  return fault;
}

void ValueWatch::explain(Fault& fault, const BufferRef& first, const BufferRef& second) const {
  if (const auto origin = parting()) {
    fault.record.sentence += ": " + origin_text(*parting_);
    fault.record.instructions = origin->record.instructions;
    fault.record.notes = origin->record.notes;
    fault.spans = origin->spans;
    return;
  }
  const BufferRef* refs[] = {&first, &second};
  std::vector<std::pair<Rank, Site>> writers;
  for (size_t i = 0; i < 2; ++i) {
    const Rank rank = fault.record.ranks[i];
    const Piece* now = piece(rank, *refs[i]);
    writers.emplace_back(rank, now == nullptr ? Site{} : now->writer);
  }
  const auto& [a, b] = std::pair(writers[0], writers[1]);
  if (a.second.code == kNoCode && b.second.code == kNoCode) return;
  fault.record.sentence += fmt::format(": rank {} has it from {}, rank {} from {}", a.first,
                                       site_text(a.second), b.first, site_text(b.second));
  const bool second_later = a.second.code == kNoCode || a.second.decision < b.second.decision;
  add_site(fault, second_later ? b.first : a.first, second_later ? b.second : a.second);
  add_site(fault, second_later ? a.first : b.first, second_later ? a.second : b.second);
}

Fault ValueWatch::birth_fault(const Birth& birth, const char* id, const char* what) const {
  const Code& code = interpreter_->code();
  const CodeInstruction& c = code.instructions[birth.use.site.code];
  Fault fault;
  fault.fatal = false;
  fault.severity = Severity::kWarning;
  fault.record.kind = id;
  fault.record.ranks = {birth.rank};
  fault.record.sentence = fmt::format("rank {}: {} makes the first {}, at {} of {}", birth.rank,
                                      site_text(birth.use.site), what, birth.place,
                                      code.register_name(c.operands[birth.use.operand]));
  add_site(fault, birth.rank, birth.use.site);
  return fault;
}

std::optional<Fault> ValueWatch::first_nan() const {
  if (!nan_) return std::nullopt;
  return birth_fault(*nan_, "nan_born", "NaN");
}

std::optional<Fault> ValueWatch::first_infinity() const {
  if (!infinity_) return std::nullopt;
  return birth_fault(*infinity_, "inf_born", "infinity");
}

std::vector<LogLine> ValueWatch::births() const {
  std::vector<LogLine> lines;
  const auto add = [&](const std::optional<Birth>& birth, const char* what) {
    if (!birth) return;
    const Site& site = birth->use.site;
    const uint32_t reg = interpreter_->code().instructions[site.code].operands[birth->use.operand];
    LogLine line;
    line.position = site.decision + 1;
    line.rank = birth->rank;
    line.code = site.code;
    line.text = fmt::format("makes the first {} of the run, at {} of {}", what, birth->place,
                            interpreter_->code().register_name(reg));
    lines.push_back(std::move(line));
  };
  add(nan_, "NaN");
  add(infinity_, "infinity");
  return lines;
}

void ValueWatch::finished(const FinishedRecord& record) {
  if (next_ != nullptr) next_->finished(record);
}
void ValueWatch::decision(const DecisionRecord& record) {
  if (next_ != nullptr) next_->decision(record);
}
void ValueWatch::called(const CallRecord& record) {
  if (next_ != nullptr) next_->called(record);
}
void ValueWatch::rank_state(const RankStateRecord& record) {
  if (next_ != nullptr) next_->rank_state(record);
}
void ValueWatch::fault(const FaultRecord& record) {
  if (next_ != nullptr) next_->fault(record);
}
void ValueWatch::loop_path(LoopPathId id, LoopPathId parent, CodeIndex loop, int64_t iteration) {
  if (next_ != nullptr) next_->loop_path(id, parent, loop, iteration);
}

}  // namespace hostir::interp
