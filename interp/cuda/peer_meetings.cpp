// Meetings of ranks on several devices of this process, by copy engines.
//
// Each member's stream waits until all have arrived, copies what it needs from the other devices,
// and adds up its piece of a reduction in group order; then the pieces are copied to all who want
// them. This works without NCCL, and for ranks that share a device with others, which NCCL refuses.
// NCCL is faster: here a meeting of four takes some 60 driver calls.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "interp/cuda/device_backend.h"

namespace hostir::cuda {

namespace {

// Pieces begin where wide loads may.
constexpr int64_t kPieceAlignment = 128;

/// Elements [begin, end) of the exchange, computed or first received by one member.
struct Piece {
  size_t owner = 0;
  int64_t begin = 0;
  int64_t end = 0;
  const std::byte* data = nullptr;  // where the owner has them
};

bool contains_address(const Side& side, const void* at) {
  const auto* byte = static_cast<const std::byte*>(at);
  return side.data != nullptr && byte >= side.data && byte < side.data + side.bytes;
}

// [begin, end) in equal pieces, one per member.
std::vector<Piece> pieces_of(int64_t begin, int64_t end, size_t members, int64_t element_bytes) {
  const int64_t unit = std::max<int64_t>(kPieceAlignment / element_bytes, 1);
  const auto count = static_cast<int64_t>(members);
  int64_t step = (end - begin + count - 1) / count;
  step = (step + unit - 1) / unit * unit;
  std::vector<Piece> out;
  for (size_t i = 0; i < members && begin < end; ++i) {
    out.push_back({i, begin, std::min(begin + step, end)});
    begin += step;
  }
  return out;
}

}  // namespace

// Decides, by communicator, whether its members on several devices of this process use copies.
Expected<void> DeviceBackend::choose_transports(const interp::Code& code) {
  uses_copies_.assign(code.communicators.size(), false);
  if (options_.process.count > 1 || !drives_several_ || options_.transport == Transport::kNccl) {
    return {};
  }
  const bool wants_copies = options_.transport == Transport::kCopies;
  if (!can_copy_between_devices()) {
    if (!wants_copies) return {};
    return fail(ErrorKind::kUsage, "transport",
                "--transport copies: the devices cannot read each other's memory; leave the option "
                "out to use NCCL");
  }
  for (CommIndex i = 0; i < uses_copies_.size(); ++i) {
    uses_copies_[i] = wants_copies || is_mixed(code.communicators[i]);
  }
  return {};
}

bool DeviceBackend::can_copy_between_devices() const {
  std::set<Device*> used(device_of_.begin(), device_of_.end());
  used.erase(nullptr);
  for (Device* a : used) {
    for (Device* b : used) {
      if (a != b && !a->reach(*b)) return false;
    }
  }
  return true;
}

/// The steps of one meeting. Work is enqueued phase by phase, all members' before the next phase,
/// because an event must be recorded before another stream can wait for it.
class DeviceBackend::PeerMeeting {
 public:
  PeerMeeting(DeviceBackend& backend, Meeting& meeting)
      : backend_(backend),
        meeting_(meeting),
        members_(meeting.exchange.members.size()),
        element_bytes_(meeting.exchange.element_bytes()),
        scratch_(members_, nullptr),
        scratch_bytes_(members_, 0),
        copies_(members_) {}

  void run() {
    moves_function(meeting_.exchange.kind)(meeting_.exchange, transfers_);
    transfers_.close();
    plan();
    if (!take_scratch()) return;
    Queue& leader = *meeting_.queues.front();
    for (size_t m = 1; m < members_; ++m) {
      leader.device->wait(leader.stream, meeting_.tasks[m]->queued->handle());
    }
    const EventRef started = mark(leader);
    enqueue();
    const EventRef done = mark(leader);
    for (size_t m = 0; m < members_; ++m) {
      Queue& q = *meeting_.queues[m];
      if (m > 0) q.device->wait(q.stream, done->handle());
      give_back_scratch(m);
      backend_.finish_item(q, *meeting_.tasks[m], started, nullptr);
    }
  }

 private:
  // From the leader's stream, where all have arrived, and back to it.
  void enqueue() {
    Queue& leader = *meeting_.queues.front();
    const EventRef begun = event_on(leader);
    for (size_t m = 1; m < members_; ++m) {
      Queue& q = *meeting_.queues[m];
      q.device->wait(q.stream, begun->handle());
    }
    for (size_t m = 0; m < members_; ++m) gather(m);
    if (spreads_) {
      const std::vector<EventRef> gathered = events();
      for (size_t m = 0; m < members_; ++m) {
        Queue& q = *meeting_.queues[m];
        for (size_t other = 0; other < members_; ++other) {
          if (other != m) q.device->wait(q.stream, gathered[other]->handle());
        }
      }
      for (size_t m = 0; m < members_; ++m) spread(m);
    }
    // Nobody may change a buffer that another member still reads.
    for (const EventRef& event : events()) leader.device->wait(leader.stream, event->handle());
  }

  struct Copy {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;
    int64_t bytes = 0;
    size_t source = 0;  // the member that has it
  };

  size_t member_with(const void* output) const {
    for (size_t m = 0; m < members_; ++m) {
      if (contains_address(meeting_.exchange.members[m].out, output)) return m;
    }
    return 0;
  }
  size_t member_that_has(const void* input) const {
    for (size_t m = 0; m < members_; ++m) {
      const Member& member = meeting_.exchange.members[m];
      if (contains_address(member.in, input) || contains_address(member.out, input)) return m;
    }
    return 0;
  }
  int64_t reserve(size_t member, int64_t bytes) {
    const int64_t at = scratch_bytes_[member];
    scratch_bytes_[member] += (bytes + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
    return at;
  }

  // Which member computes or fetches which elements, and how much scratch memory that takes.
  void plan() {
    const auto& targets = transfers_.fold_targets;
    if (!targets.empty()) {
      // A part that one member wants is its own piece. What several want is divided.
      auto sorted = targets;
      std::sort(sorted.begin(), sorted.end(),
                [](const FoldTarget& a, const FoldTarget& b) { return a.begin < b.begin; });
      bool disjoint = targets.size() > 1;
      int64_t end = sorted.front().end;
      for (size_t i = 1; i < sorted.size(); ++i) {
        disjoint = disjoint && sorted[i].begin >= end;
        end = std::max(end, sorted[i].end);
      }
      spreads_ = !disjoint;
      if (disjoint) {
        for (const FoldTarget& t : targets) pieces_.push_back({member_with(t.to), t.begin, t.end});
      } else {
        pieces_ = pieces_of(sorted.front().begin, end, members_, element_bytes_);
      }
      for (const Piece& piece : pieces_) {
        const int64_t bytes = (piece.end - piece.begin) * element_bytes_;
        for (size_t i = 0; i < members_; ++i) reserve(piece.owner, bytes);
      }
    } else if (transfers_.stage) {
      spreads_ = true;
      for (const Move& m : transfers_.moves) {
        if (m.from != nullptr) reserve(member_with(m.to), m.bytes);
      }
    } else if (is_from_one_member()) {
      // The links of one device would carry everything: the others pass on what they received.
      spreads_ = true;
      const Move& first = transfers_.moves.front();
      pieces_ = pieces_of(0, first.bytes / element_bytes_, members_, element_bytes_);
      for (const Piece& piece : pieces_) {
        reserve(piece.owner, (piece.end - piece.begin) * element_bytes_);
      }
    }
  }

  // True if all moves copy the same bytes of one member to several others.
  bool is_from_one_member() const {
    const auto& moves = transfers_.moves;
    return moves.size() > 1 && std::all_of(moves.begin(), moves.end(), [&](const Move& m) {
             return m.from != nullptr && m.from == moves.front().from &&
                    m.bytes == moves.front().bytes;
           });
  }

  bool take_scratch() {
    for (size_t m = 0; m < members_; ++m) {
      if (scratch_bytes_[m] == 0) continue;
      Queue& q = *meeting_.queues[m];
      scratch_[m] = static_cast<std::byte*>(backend_.take_scratch(q, scratch_bytes_[m]));
      if (scratch_[m] != nullptr) continue;
      backend_.fail_task(meeting_.tasks[m]->id, "max_memory",
                         fmt::format("device {} ({}) has no {} bytes left to exchange with others",
                                     q.device->index(), q.device->name(), scratch_bytes_[m]));
      return false;
    }
    std::fill(scratch_bytes_.begin(), scratch_bytes_.end(), 0);
    return true;
  }
  void give_back_scratch(size_t member) {
    Queue& q = *meeting_.queues[member];
    if (scratch_[member] == nullptr || scratch_[member] == q.scratch) return;
    q.device->release(scratch_[member], q.stream);
  }

  // Does not use mark(), because the queue would keep the event.
  static EventRef event_on(const Queue& queue) {
    auto event = std::make_shared<Event>(*queue.device);
    queue.device->record(event->handle(), queue.stream);
    return event;
  }
  std::vector<EventRef> events() {
    std::vector<EventRef> out;
    for (const Queue* q : meeting_.queues) out.push_back(event_on(*q));
    return out;
  }

  // Members begin at different sources, because each source has one link.
  void copy_all(size_t member, std::vector<Copy>& copies) {
    std::stable_sort(copies.begin(), copies.end(), [&](const Copy& a, const Copy& b) {
      return distance(member, a.source) < distance(member, b.source);
    });
    Queue& q = *meeting_.queues[member];
    for (const Copy& c : copies) {
      if (c.bytes > 0 && c.to != c.from) q.device->pull(c.to, c.from, c.bytes, q.stream);
    }
  }
  size_t distance(size_t member, size_t source) const {
    return (source + members_ - member) % members_;
  }

  // What a member fetches first: its pieces, or all its moves.
  void gather(size_t member) {
    for (Piece& piece : pieces_) {
      if (piece.owner == member) make_piece(piece);
    }
    if (!pieces_.empty() && transfers_.fold_targets.empty()) return;
    if (!transfers_.stage) clear(member);
    std::vector<Copy> copies;
    for (const Move& m : transfers_.moves) {
      if (m.from == nullptr || member_with(m.to) != member) continue;
      auto* to = static_cast<std::byte*>(m.to);
      if (transfers_.stage) {
        to = scratch_[member] + reserve(member, m.bytes);
        copies_[member].push_back({static_cast<std::byte*>(m.to), to, m.bytes, member});
      }
      copies.push_back(
          {to, static_cast<const std::byte*>(m.from), m.bytes, member_that_has(m.from)});
    }
    copy_all(member, copies);
  }

  // Zeros for a member to which nobody sends.
  void clear(size_t member) {
    std::vector<Move> zeros;
    for (const Move& m : transfers_.moves) {
      if (m.from == nullptr && member_with(m.to) == member) zeros.push_back(m);
    }
    Queue& q = *meeting_.queues[member];
    if (!zeros.empty()) q.device->move(zeros, q.stream);
  }

  // A piece of the reduction, or of what one member gives to all.
  void make_piece(Piece& piece) {
    const size_t owner = piece.owner;
    const int64_t offset = piece.begin * element_bytes_;
    const int64_t bytes = (piece.end - piece.begin) * element_bytes_;
    if (transfers_.fold_targets.empty()) {
      piece.data = static_cast<const std::byte*>(transfers_.moves.front().from) + offset;
      if (member_that_has(piece.data) == owner) return;
      std::byte* at = scratch_[owner] + reserve(owner, bytes);
      std::vector<Copy> one = {{at, std::exchange(piece.data, at), bytes, owner}};
      return copy_all(owner, one);
    }
    std::vector<const void*> inputs(members_);
    std::vector<Copy> copies;
    for (size_t m = 0; m < members_; ++m) {
      const auto* from = static_cast<const std::byte*>(transfers_.fold_inputs[m]) + offset;
      inputs[m] = from;
      if (m == owner) continue;
      std::byte* at = scratch_[owner] + reserve(owner, bytes);
      inputs[m] = at;
      copies.push_back({at, from, bytes, m});
    }
    std::byte* sum = scratch_[owner] + reserve(owner, bytes);
    for (const FoldTarget& t : transfers_.fold_targets) {
      if (member_with(t.to) != owner || t.begin > piece.begin || t.end < piece.end) continue;
      sum = static_cast<std::byte*>(t.to) + (piece.begin - t.begin) * element_bytes_;
    }
    piece.data = sum;
    copy_all(owner, copies);
    Queue& q = *meeting_.queues[owner];
    const FoldTarget target{sum, 0, piece.end - piece.begin};
    q.device->fold({meeting_.exchange.reduction, meeting_.exchange.dtype, inputs, {&target, 1}},
                   q.stream);
  }

  // What a member takes from the pieces of the others, or from its own scratch memory.
  void spread(size_t member) {
    if (transfers_.stage) clear(member);
    std::vector<Copy> copies = std::move(copies_[member]);
    const auto take = [&](void* to, int64_t begin, int64_t end) {
      for (const Piece& piece : pieces_) {
        const int64_t lo = std::max(begin, piece.begin);
        const int64_t hi = std::min(end, piece.end);
        if (lo >= hi) continue;
        copies.push_back({static_cast<std::byte*>(to) + (lo - begin) * element_bytes_,
                          piece.data + (lo - piece.begin) * element_bytes_,
                          (hi - lo) * element_bytes_, piece.owner});
      }
    };
    for (const FoldTarget& t : transfers_.fold_targets) {
      if (member_with(t.to) == member) take(t.to, t.begin, t.end);
    }
    if (transfers_.fold_targets.empty() && !pieces_.empty()) {
      for (const Move& m : transfers_.moves) {
        if (member_with(m.to) == member) take(m.to, 0, m.bytes / element_bytes_);
      }
    }
    copy_all(member, copies);
  }

  DeviceBackend& backend_;
  Meeting& meeting_;
  const size_t members_;
  const int64_t element_bytes_;
  Transfers transfers_;
  std::vector<Piece> pieces_;
  bool spreads_ = false;  // members take from each other's pieces, or from scratch memory
  std::vector<std::byte*> scratch_;        // by member
  std::vector<int64_t> scratch_bytes_;     // reserved, by member
  std::vector<std::vector<Copy>> copies_;  // by member: copies out of scratch memory
};

void DeviceBackend::run_between_devices(Meeting& meeting) { PeerMeeting(*this, meeting).run(); }

}  // namespace hostir::cuda
