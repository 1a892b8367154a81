// Explains collectives, sends and receives: the contributions, and the phases of the meeting.
//
// 1. The call of every side, as if it executed its part now (Interpreter::operands_now).
// 2. The row of the ledger, if any member has arrived.
// 3. Whether the inputs are those that the meeting reads.
// 4. The backend reports the contributing elements, from what it would really move.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "hostir/ir/inline_value.h"
#include "hostir/ops/record.h"
#include "hostir/support/text.h"
#include "interp/core/history/program_point.h"
#include "interp/core/loop_paths.h"
#include "interp/session/inside/live_inside.h"
#include "interp/session/values/live_values.h"

namespace hostir::interp {
namespace {

// One member: its instruction, its call, and its cell of the ledger.
struct Side {
  Rank rank = kNoRank;
  CodeIndex code = kNoCode;
  OperandsNow now;
  const Arrival* arrival = nullptr;  // null: no member has arrived
};

class CollectiveLook {
 public:
  CollectiveLook(Interpreter& interpreter, const Snapshot& snapshot, const InsideQuery& query,
                 Inside& out)
      : interpreter_(interpreter),
        snapshot_(snapshot),
        code_(interpreter.code()),
        query_(query),
        out_(out) {}

  Expected<void> look() {
    auto own = interpreter_.operands_now(out_.rank, out_.code);
    if (!own) {
      out_.moment = "It cannot run in the current state.";
      out_.notes.push_back(own.error().message() + ".");
      return {};
    }
    ledger_ = interpreter_.ledger();
    find_meeting(*own->item);
    HOSTIR_TRY(find_sides(std::move(*own)));
    find_moment();
    describe_members();
    if (!complete_) return {};
    const Side& reader = sides_[position_];
    const BufferRef& made = reader.now.item->out;
    if (!made.allocation.valid()) {
      out_.notes.push_back(fmt::format("Rank {} receives nothing from it.", reader.rank));
      return tell_cost();
    }
    const Placement& placement = made.after != nullptr ? *made.after : *made.placement;
    if (placement.box.empty()) {
      out_.notes.push_back(fmt::format("Rank {} holds nothing of %{}.", reader.rank, out_.value));
      return tell_cost();
    }
    InsideQuery query = query_;
    query.rank = reader.rank;
    HOSTIR_ASSIGN_OR_RETURN(out_.element, chosen_element(query, out_.value, placement));
    std::optional<FinishedDevice> device;
    // Once all have arrived, completing the pending work would run the meeting itself and overwrite
    // its inputs.
    const bool all_came = meeting_ != nullptr && meeting_->complete;
    if (!all_came) device.emplace(interpreter_);
    HOSTIR_TRY(ask());
    if (!inputs_hold(device ? &*device : nullptr)) forget_numbers();
    device.reset();
    read_held(placement);
    return {};
  }

 private:
  // The newest ledger row of this instruction on this rank; none if the rank is about to execute it
  // again.
  void find_meeting(const CommunicationItem& item) {
    const bool next = interpreter_.next_code(out_.rank) == out_.code;
    for (const MeetingView& m : ledger_) {
      if (m.comm != item.comm) continue;
      for (const auto& [rank, a] : m.members) {
        // A rank whose call did not fit stays at it, though it has arrived.
        const bool mine =
            rank == out_.rank && a->arrived && a->code == out_.code && (!next || m.mismatch);
        const bool awaited = next && rank == out_.rank && !a->arrived && has_peer(m, item);
        if (mine || (awaited && meeting_ == nullptr)) meeting_ = &m;
      }
    }
  }

  static bool has_peer(const MeetingView& m, const CommunicationItem& item) {
    if (!item.is_pair()) return !m.point_to_point;
    return m.point_to_point && m.members.size() == 2 &&
           m.members[item.sends() ? 1 : 0].first == item.other();
  }

  const Arrival* arrival_of(Rank rank) const {
    if (meeting_ == nullptr) return nullptr;
    for (const auto& [member, arrival] : meeting_->members) {
      if (member == rank) return arrival;
    }
    return nullptr;
  }

  Expected<void> find_sides(OperandsNow own) {
    const CommunicationItem item = *own.item;
    std::vector<Rank> ranks(item.members.begin(), item.members.end());
    if (item.is_pair()) {
      ranks = {out_.rank, item.other()};
      if (!item.sends()) std::swap(ranks[0], ranks[1]);
    }
    for (const Rank rank : ranks) {
      Side& side = sides_.emplace_back();
      side.rank = rank;
      side.arrival = arrival_of(rank);
      side.code = code_of(side, item);
      if (side.code == kNoCode) {
        complete_ = false;
        out_.notes.push_back(fmt::format("Rank {} has no matching instruction.", rank));
        continue;
      }
      auto now = rank == out_.rank ? Expected<OperandsNow>(own)
                                   : interpreter_.operands_now(rank, side.code);
      if (!now) {
        complete_ = false;
        out_.notes.push_back(
            fmt::format("What rank {} {} cannot be determined from its position: {}.", rank,
                        has_come(side) ? "brought" : "will bring", now.error().message()));
        continue;
      }
      side.now = std::move(*now);
      check_iteration(side);
    }
    choose_reader();
    return {};
  }

  static bool has_come(const Side& side) {
    return side.arrival != nullptr && side.arrival->arrived;
  }

  // A rank's names refer to the buffers of its current iteration. A member that arrived in another
  // iteration, or has not yet reached that of the others, cannot be queried.
  void check_iteration(const Side& side) {
    const LoopPathId at = next_visit(interpreter_, side.rank).path;
    if (has_come(side)) {
      if (is_within(at, side.arrival->loop_path)) return;
      complete_ = false;
      out_.notes.push_back(fmt::format(
          "Rank {} arrived in an iteration that it has left, and its names refer to other buffers "
          "now. Step back to see what it contributed.",
          side.rank));
      return;
    }
    const auto own = arrival_of(out_.rank);
    const LoopPathId meant =
        own != nullptr && own->arrived ? own->loop_path : next_visit(interpreter_, out_.rank).path;
    if (side.rank == out_.rank || side.code != out_.code || at == meant) return;
    complete_ = false;
    out_.notes.push_back(fmt::format(
        "Rank {} is in another iteration: what it will contribute is not known yet.", side.rank));
  }

  // True if `path` is inside the iterations of `outer`.
  bool is_within(LoopPathId path, LoopPathId outer) const {
    while (path != outer && path != 0) path = interpreter_.loop_paths().entry(path).parent;
    return path == outer;
  }

  // A member's instruction: the one it issued; otherwise its current one, if that is the same op on
  // the same communicator (branches of a `where`); otherwise this one. A group member is never
  // taken as the current one, because a group may contain several calls of the same kind.
  CodeIndex code_of(const Side& side, const CommunicationItem& item) {
    if (side.rank == out_.rank) return out_.code;
    if (side.arrival != nullptr && side.arrival->arrived) return side.arrival->code;
    if (item.is_pair()) return other_end(side.rank, item);
    const CodeIndex at = interpreter_.next_code(side.rank).value_or(out_.code);
    const CodeInstruction& c = code_.instructions[at];
    const bool same = c.role == CodeRole::kInstruction && c.group == kNoCode &&
                      c.comm == item.comm && c.kind == code_.instructions[out_.code].kind;
    return same ? at : out_.code;
  }

  // The number of earlier messages of the same pair of ranks that the other end has not matched
  // yet.
  size_t unmet_before(Rank rank, const CommunicationItem& item) const {
    const size_t own = item.sends() ? 0 : 1;
    size_t count = 0;
    for (const MeetingView& m : ledger_) {
      if (&m == meeting_) break;
      if (!m.point_to_point || m.comm != item.comm || m.members.size() != 2) continue;
      const auto& [from, mine] = m.members[own];
      const auto& [to, other] = m.members[1 - own];
      if (from == out_.rank && to == rank && mine->arrived && !other->arrived) ++count;
    }
    return count;
  }

  // The instruction of `rank` that matches a send or recv: the next in text order that names its
  // peer, after those that match earlier messages.
  CodeIndex other_end(Rank rank, const CommunicationItem& item) {
    size_t skipped = unmet_before(rank, item);
    const CodeIndex from = interpreter_.next_code(rank).value_or(0);
    const auto count = static_cast<CodeIndex>(code_.instructions.size());
    for (CodeIndex i = 0; i < count; ++i) {
      const CodeIndex at = (from + i) % count;
      const CodeInstruction& c = code_.instructions[at];
      if (c.role != CodeRole::kInstruction || c.comm != item.comm ||
          record(c.kind).op_class != OpClass::kCommunication)
        continue;
      const auto now = interpreter_.operands_now(rank, at);
      if (!now || !now->item || !now->item->is_pair()) continue;
      if (now->item->other() != out_.rank || now->item->sends() == item.sends()) continue;
      if (skipped-- == 0) return at;
    }
    return kNoCode;
  }

  // The side whose output is shown: the rank itself, or the receiver of a send, which has no
  // output.
  void choose_reader() {
    for (size_t i = 0; i < sides_.size(); ++i) {
      if (sides_[i].rank == out_.rank) position_ = i;
    }
    const std::optional<CommunicationItem>& item = sides_[position_].now.item;
    if (item && item->sends() && sides_[1].now.item) {
      position_ = 1;
      out_.rank = sides_[1].rank;
      out_.notes.push_back(fmt::format("Shown on rank {}, which receives it.", out_.rank));
    }
    const Side& reader = sides_[position_];
    if (reader.now.item) out_.value = name_of(reader, false);
  }

  // The operand that a side reads (`in`) or writes (otherwise).
  std::optional<size_t> buffer_of(const Side& side, bool in) const {
    for (size_t i = 0; i < side.now.buffers.size(); ++i) {
      const Access access = side.now.buffers[i].access;
      if (access == Access::kReadWrite || (access == Access::kRead) == in) return i;
    }
    return std::nullopt;
  }

  std::string name_of(const Side& side, bool in) const {
    const auto buffer = buffer_of(side, in);
    if (!buffer) return "";
    const Function& function = *code_.functions[code_.instructions[side.code].function];
    return function.value(code_.source(side.code).operands[side.now.operands[*buffer]].value).name;
  }

  void find_moment() {
    is_over_ = meeting_ != nullptr && meeting_->finished;
    size_t arrived = 0;
    for (const Side& side : sides_) arrived += side.arrival && side.arrival->arrived ? 1 : 0;
    if (meeting_ != nullptr && meeting_->mismatch) {
      out_.moment =
          "Its members made different calls, so it does nothing. This is what it would do if all "
          "made this call.";
    } else if (is_over_) {
      out_.moment = "It is complete; this is what it did.";
    } else if (arrived == 0) {
      out_.moment = "No rank has arrived yet: what it will do.";
    } else {
      out_.moment =
          fmt::format("{} of {} ranks have arrived: what it will do.", arrived, sides_.size());
    }
  }

  // Notes a member that has not arrived and has other instructions first: its contribution may
  // still change.
  void note_absent(const Side& side) {
    if (is_over_ || (side.arrival != nullptr && side.arrival->arrived)) return;
    if (interpreter_.next_code(side.rank) == side.code) return;
    out_.provisional = true;
    out_.notes.push_back(
        fmt::format("Rank {} has not reached it: its contribution is shown with its current value.",
                    side.rank));
  }

  void describe_members() {
    for (const Side& side : sides_) {
      note_absent(side);
      InsideMember& m = out_.members.emplace_back();
      m.rank = side.rank;
      if (side.now.item) {
        const CommunicationItem& item = *side.now.item;
        m.in_bytes = item.in.allocation.valid() ? item.in.size_bytes : 0;
        m.out_bytes = item.out.allocation.valid() ? item.out.size_bytes : 0;
      }
      const RankSnapshot& at = snapshot_.rank(side.rank);
      const Arrival* a = side.arrival;
      if (a == nullptr || !a->arrived) {
        m.state = "not arrived";
        m.text = fmt::format("at {}{}", at.address, at.waits ? ": " + at.waits->sentence : "");
        if (at.status == RankStatus::kDone) m.text = "has returned";
      } else if (a->finished) {
        m.state = "done";
        m.text = fmt::format("came at {} ns, moved from {} to {} ns", a->arrived_ns, a->started_ns,
                             a->finished_ns);
      } else {
        const bool queued = interpreter_.is_queued(side.rank, *a);
        const bool runs = meeting_->complete && !meeting_->mismatch;
        m.state = queued ? "queued" : runs ? "running" : "arrived";
        m.text = fmt::format("came at {} ns", a->arrived_ns);
        if (queued) m.text += ", behind " + head_of(at, a->task);
      }
    }
  }

  // The task ahead of a task on its stream.
  static std::string head_of(const RankSnapshot& rank, TaskId task) {
    for (const StreamSnapshot& stream : rank.streams) {
      std::string before;
      for (const TaskSnapshot& t : stream.tasks) {
        if (t.id == task && !before.empty())
          return fmt::format("{} on stream {}", before, stream.name);
        if (t.id == task && !t.waits_for.empty()) return "events that have not happened";
        before = t.text + " at " + t.address;
      }
    }
    return "other work of its stream";
  }

  Expected<void> tell_cost() { return ask(); }

  Expected<void> ask() {
    std::vector<ExchangeMember> members;
    for (const Side& side : sides_) {
      ExchangeMember& m = members.emplace_back();
      m.item = &*side.now.item;
      m.in_skipped_bytes = skipped(side, side.now.item->in, true);
      m.out_skipped_bytes = skipped(side, side.now.item->out, false);
    }
    ElementQueries* elements = interpreter_.backend().elements();
    const Expected<ExchangeElement> answer =
        elements != nullptr ? elements->exchange_element({members, position_, out_.element})
                            : Expected<ExchangeElement>(no_elements(interpreter_.backend()));
    if (!answer) {
      out_.notes.push_back(answer.error().message() + ".");
      return {};
    }
    tell(*answer);
    return {};
  }

  int64_t skipped(const Side& side, const BufferRef& part, bool in) const {
    const auto buffer = buffer_of(side, in);
    if (!buffer || !part.allocation.valid()) return 0;
    return part.offset_bytes - side.now.buffers[*buffer].offset_bytes;
  }

  void tell(const ExchangeElement& answer) {
    using Kind = ExchangeElement::Kind;
    const Reduction reduction = sides_[position_].now.item->reduction;
    if (answer.wire_bytes > 0 || answer.latency_ns > 0) {
      out_.facts.push_back(
          {"duration", fmt::format("{} = {} latency + {} for {} ({} on the wire)",
                                   time_text(answer.latency_ns + answer.transfer_ns),
                                   time_text(answer.latency_ns), time_text(answer.transfer_ns),
                                   bytes_text(std::llround(answer.bytes)),
                                   bytes_text(std::llround(answer.wire_bytes)))});
    }
    if (out_.element.empty() && out_.value.empty()) return;
    switch (answer.kind) {
      case Kind::kKept:
        out_.how = "not written: it keeps its value";
        break;
      case Kind::kZero:
        out_.how = "zero: no rank sends it";
        break;
      case Kind::kMoved:
        out_.how = "moved";
        break;
      case Kind::kCombined:
        out_.how =
            fmt::format("{} in group order; NCCL may take another order", hostir::name(reduction));
        break;
    }
    double before = 0;
    for (size_t i = 0; i < answer.sources.size(); ++i) {
      const ExchangeSource& from = answer.sources[i];
      const Side& side = sides_[from.position];
      InsideAddend& addend = out_.addends.emplace_back();
      addend.source.value = name_of(side, true);
      addend.source.of_host = true;
      addend.source.rank = side.rank;
      addend.source.element = from.element;
      addend.source.place = index_text(from.element);
      addend.source.number = format_number(from.value, 0);
      const double value = from.value.get_double(0);
      addend.source.not_finite = !std::isfinite(value);
      if (answer.kind != Kind::kCombined) continue;
      addend.running = format_number(from.running, 0);
      const double running = from.running.get_double(0);
      const bool sums = reduction == Reduction::kSum || reduction == Reduction::kAvg;
      // Exact in f64 for addends of 32 bits or less whose exponents differ by at most 29.
      const double error = running - (before + value);
      if (i > 0 && sums && std::isfinite(error) && error != 0 && from.running.dtype != DType::kF64)
        addend.rounding = fmt::format("{:+.3g}", error);
      before = running;
    }
    if (answer.kind == Kind::kKept) return;
    out_.result = answer.value;
    out_.number = format_number(answer.value, 0);
  }

  // True if the inputs are those that the meeting reads, or did read.
  bool inputs_hold(const FinishedDevice* device) {
    bool hold = true;
    for (const InsideAddend& addend : out_.addends) {
      const auto side = std::find_if(sides_.begin(), sides_.end(),
                                     [&](const Side& s) { return s.rank == addend.source.rank; });
      const auto a = find_allocation(interpreter_, side->rank, side->now.item->in.allocation);
      if (!a || a->version == 0) continue;
      const TaskId own = side->arrival && side->arrival->arrived ? side->arrival->task : kNoTask;
      const std::string name = fmt::format("%{} of rank {}", addend.source.value, side->rank);
      const std::string writer = code_.address(a->written_by);
      if (own != kNoTask && a->written_task == own && is_over_) {
        out_.notes.push_back(fmt::format(
            "{} was overwritten by the collective itself: go back to before it.", name));
      } else if (own != kNoTask && a->written_task != own && a->written_task > own) {
        out_.notes.push_back(fmt::format(
            "The buffer of {} has since been written, perhaps in part, by {}.", name, writer));
      } else if (is_pending(*a, own) && (!device || !device->finished(a->written_task))) {
        out_.notes.push_back(fmt::format(
            "{} is still to be written by {}, which cannot finish as things stand.", name, writer));
      } else if (!is_over_ && device == nullptr && side->arrival &&
                 interpreter_.is_queued(side->rank, *side->arrival)) {
        out_.notes.push_back(fmt::format("{} may still be written by earlier work.", name));
      } else {
        continue;
      }
      hold = false;
    }
    return hold;
  }

  bool is_pending(const AllocationView& a, TaskId own) const {
    const TaskRecord* writer = interpreter_.task(a.written_task);
    return writer && !writer->finished() && a.written_task != own;
  }

  void forget_numbers() {
    for (InsideAddend& addend : out_.addends) {
      addend.source.number.clear();
      addend.source.not_finite = false;
      addend.running.clear();
      addend.rounding.clear();
    }
    out_.number.clear();
    out_.result = {};
  }

  void read_held(const Placement& placement) {
    const Side& reader = sides_[position_];
    if (!is_over_ || reader.arrival == nullptr) return;
    const auto a = find_allocation(interpreter_, reader.rank, reader.now.item->out.allocation);
    if (!a || a->written_task != reader.arrival->task) return;
    const auto buffer = buffer_of(reader, false);
    BufferRef ref = reader.now.buffers[*buffer];
    ref.placement = &placement;
    Box box{out_.element, out_.element};
    for (int64_t& hi : box.hi) ++hi;
    const auto held = interpreter_.backend().read(reader.rank, ref, box);
    if (held) out_.held = format_number(*held, 0);
  }

  Interpreter& interpreter_;
  const Snapshot& snapshot_;
  const Code& code_;
  const InsideQuery& query_;
  Inside& out_;
  std::vector<MeetingView> ledger_;
  const MeetingView* meeting_ = nullptr;
  std::vector<Side> sides_;
  size_t position_ = 0;
  bool complete_ = true;
  bool is_over_ = false;
};

}  // namespace

Expected<void> look_inside_collective(Interpreter& interpreter, const Snapshot& snapshot,
                                      const InsideQuery& query, Inside& out) {
  return CollectiveLook(interpreter, snapshot, query, out).look();
}

}  // namespace hostir::interp
