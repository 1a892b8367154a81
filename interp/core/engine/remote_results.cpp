// Exchanging parts of results between processes.
#include "interp/core/engine/engine.h"
#include "interp/core/engine/message.h"
#include "interp/core/engine/remote.h"

namespace hostir::interp {

Expected<std::string> results_of(const Interpreter& interpreter) {
  MessageWriter out;
  MessageWriter parts;
  uint64_t count = 0;
  const size_t results = interpreter.code().functions.front()->results.size();
  for (Rank r = 0; r < interpreter.code().rank_count; ++r) {
    if (interpreter.rank(r).status == RankStatus::kRemote) continue;
    for (size_t i = 0; i < results; ++i) {
      const auto ref = interpreter.result(r, i);
      if (!ref || ref->placement == nullptr) continue;
      const Placement& placement = *ref->placement;
      HOSTIR_ASSIGN_OR_RETURN(const Tensor value,
                              interpreter.backend().read(r, *ref, placement.box));
      ++count;
      parts.put(r);
      parts.put(static_cast<uint64_t>(i));
      parts.put(placement.dtype);
      parts.list(placement.global);
      parts.list(placement.box.lo);
      parts.list(placement.box.hi);
      parts.text(reinterpret_cast<const char*>(value.data.data()), value.data.size());
    }
  }
  out.put(count);
  const std::string body = parts.take();
  out.text(body.data(), body.size());
  return out.take();
}

bool enter_results(RemoteParts& parts, const std::string& results) {
  MessageReader in(results);
  auto count = in.get<uint64_t>();
  const std::string body = in.text();
  MessageReader list(body);
  for (; count > 0 && list.ok(); --count) {
    const auto rank = list.get<Rank>();
    const auto index = list.get<uint64_t>();
    Placement& placement = parts.placements.emplace_back();
    placement.dtype = list.get<DType>();
    placement.global = list.list<int64_t>();
    placement.box.lo = list.list<int64_t>();
    placement.box.hi = list.list<int64_t>();
    const std::string data = list.text();
    if (!list.ok()) return false;
    RemoteParts::Part part;
    part.ref.placement = &placement;
    part.ref.size_bytes = placement.local_bytes();
    part.value = Tensor::zeros(placement.dtype, placement.local());
    if (part.value.data.size() != data.size()) return false;
    std::memcpy(part.value.data.data(), data.data(), data.size());
    parts.parts[{rank, index}] = std::move(part);
  }
  return in.ok() && list.ok();
}

Expected<Tensor> Engine::read_part(Rank rank, const BufferRef& ref) const {
  for (const auto& [key, part] : remote.parts) {
    if (key.first == rank && part.ref.placement == ref.placement) return part.value;
  }
  return run.backend.read(rank, ref, ref.placement->box);
}

void Interpreter::tell_peers() const {
  Peers* peers = engine_->run.backend.peers();
  if (peers != nullptr) static_cast<void>(peers->exchange("verdict", report_of(engine_->run), 0));
}

Expected<void> Interpreter::share_results(int64_t timeout_ns) {
  Peers* peers = engine_->run.backend.peers();
  if (peers == nullptr) return {};
  HOSTIR_ASSIGN_OR_RETURN(std::string mine, results_of(*this));
  const auto answers = peers->exchange("results", std::move(mine), timeout_ns);
  for (size_t p = 0; p < answers.size(); ++p) {
    if (static_cast<int>(p) == peers->process()) continue;
    if (answers[p].text && enter_results(engine_->remote, *answers[p].text)) continue;
    return fail(ErrorKind::kStuck, "lost_process",
                "the results of process " + std::to_string(p) + " are missing: it " +
                    (answers[p].text ? "runs another version" : answers[p].why_not));
  }
  return {};
}

Expected<Tensor> Interpreter::read_result(Rank rank, size_t index, const Box& box) const {
  const auto found = engine_->remote.parts.find({rank, index});
  if (found != engine_->remote.parts.end()) return found->second.value;
  const auto ref = result(rank, index);
  if (!ref) return fail(ErrorKind::kRuntime, "result_missing", "the rank has not returned it");
  return engine_->run.backend.read(rank, *ref, box);
}

}  // namespace hostir::interp
