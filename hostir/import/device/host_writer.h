// Writes a LocalProgram as a host function: buffers, streams, communicators, waits between streams,
// and frees after the last use. Internal to `write_host`.
#pragma once

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

#include "hostir/import/device/local_program.h"

namespace hostir::importer {

enum class StreamKind : uint8_t { kCompute, kComm };

// The state of a buffer: its last writer, and its readers since then on each stream.
struct BufferState {
  ValueId buffer;  // the allocated, passed or returned buffer
  ValueId view;    // the buffer viewed as a local tensor
  bool owned = false;
  ValueId written;  // event
  StreamKind writer = StreamKind::kCompute;
  std::map<StreamKind, ValueId> readers;
};

class HostWriter {
 public:
  HostWriter(const LocalProgram& local, const Mesh& world, Program& program)
      : local_(local), world_(world), program_(program), state_(local.values.size()) {}

  Expected<void> write(const std::string& name);

 private:
  std::string fresh(const std::string& wanted) {
    std::string name = wanted.empty() ? "v" : wanted;
    for (int i = 1; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
    return name;
  }

  // ---- instructions

  struct Use {
    std::string_view slot;
    ValueId value;
  };

  InstrId append(OpKind kind, std::vector<Use> uses, Attributes attributes,
                 std::vector<ValueId> results);

  ValueId handle(const std::string& name, Type type) {
    return host_.add_value(fresh(name), std::move(type));
  }

  ValueId stream(StreamKind kind) const { return kind == StreamKind::kCompute ? compute_ : comm_; }

  void declare_handles();

  // The communicator for these groups: over mesh axes if possible, else with literal groups.
  ValueId communicator(const std::vector<std::vector<int64_t>>& groups);

  // ---- buffers

  void declare_parameters() {
    for (const LocalPort& port : local_.params) {
      BufferState& s = state_[port.value];
      s.buffer = handle(port.name, port.type);
      host_.params.push_back({s.buffer, false});
    }
  }

  // The view of a parameter as a local tensor; created at its first use.
  ValueId view_of(LocalValue value) {
    BufferState& s = state_[value];
    if (!s.view.valid()) s.view = reinterpreted(s.buffer, local_.values[value]);
    return s.view;
  }

  ValueId reinterpreted(ValueId buffer, const LocalProgram::Value& value) {
    if (std::holds_alternative<TensorType>(host_.value(buffer).type)) return buffer;
    const ValueId view = handle(host_.value(buffer).name + "_local", value.type);
    append(OpKind::reinterpret, {{"buffer", buffer}}, {}, {view});
    return view;
  }

  // Returned values get buffers of the result's type at allocation.
  void find_results() {
    for (const LocalPort& port : local_.results) result_types_.try_emplace(port.value, &port.type);
  }

  ValueId allocated(const std::string& name, Type type, StreamKind on) {
    const ValueId buffer = handle(name, std::move(type));
    append(OpKind::alloc, {{"stream", stream(on)}}, {}, {buffer});
    return buffer;
  }

  void make_buffer(LocalValue value, StreamKind on) {
    BufferState& s = state_[value];
    if (s.buffer.valid()) return;
    const LocalProgram::Value& v = local_.values[value];
    const auto result = result_types_.find(value);
    s.owned = true;
    s.buffer =
        allocated(v.name, result != result_types_.end() ? Type(*result->second) : Type(v.type), on);
    s.view = reinterpreted(s.buffer, v);
    s.writer = on;
  }

  // ---- order between streams

  void wait(ValueId event, StreamKind on) {
    if (!event.valid() || !waited_.insert({event.index, on}).second) return;
    append(OpKind::wait, {{"event", event}, {"stream", stream(on)}}, {}, {});
  }

  void before_read(LocalValue value, StreamKind on) {
    const BufferState& s = state_[value];
    if (s.writer != on) wait(s.written, on);
  }

  void before_write(LocalValue value, StreamKind on) {
    before_read(value, on);
    for (const auto& [reader, event] : state_[value].readers) {
      if (reader != on) wait(event, on);
    }
  }

  void accessed(const LocalStep& step, InstrId instruction, StreamKind on,
                const std::string& stem) {
    const ValueId event = handle(stem, EventType{});
    host_.value(event).defined_by = instruction;
    host_.instr(instruction).results.push_back(event);
    last_event_[static_cast<size_t>(on)] = event;
    for (const LocalValue in : step.inputs) state_[in].readers[on] = event;
    for (const LocalValue out : step.outputs) {
      state_[out].written = event;
      state_[out].writer = on;
      state_[out].readers.clear();
    }
  }

  void count_uses(const LocalStep& step) {
    for (const LocalValue in : step.inputs) ++uses_[in];
    for (const LocalStep& inner : step.body) count_uses(inner);
    for (const LocalValue result : step.body_results) ++uses_[result];
  }

  // Counts a use. After the last one, frees the buffer on the stream of that use.
  void used(LocalValue value, StreamKind on) {
    if (--uses_[value] > 0 || !state_[value].owned) return;
    release(value, on);
  }

  void release(LocalValue value, StreamKind on) {
    BufferState& s = state_[value];
    before_write(value, on);
    append(OpKind::free, {{"buffer", s.buffer}, {"stream", stream(on)}}, {}, {});
    s.owned = false;
  }

  // ---- steps

  Expected<void> write_step(const LocalStep& step);

  Expected<void> write_launch(const LocalStep& step);

  void finish_step(const LocalStep& step, StreamKind on) {
    for (const LocalValue in : step.inputs) used(in, on);
    for (const LocalValue out : step.outputs) {
      if (uses_[out] == 0 && state_[out].owned) release(out, on);  // never read
    }
  }

  Expected<void> write_collective(const LocalStep& step);

  // The device number is the rank's index in a tensor with one element per rank, cut over the mesh.
  Expected<void> write_device(const LocalStep& step);

  Expected<void> write_loop(const LocalStep& step);
  Expected<void> write_pass(const LocalStep& step);
  void drain();
  RegionId open_region(OpKind kind, Attributes attributes, const std::string& index);
  IndexExpr read_condition(LocalValue condition);

  void copy(LocalValue from, LocalValue to) {
    LocalStep step;
    step.kernel = copy_kernel(local_.values[from].type);
    step.inputs = {from};
    step.outputs = {to};
    ++uses_[from];
    (void)write_launch(step);
  }

  // A copy kernel for this type, created once.
  std::string copy_kernel(const TensorType& type);

  // Each result needs its own buffer, so returned parameters and values returned twice are copied.
  Expected<void> write_return();

  ValueId copied_result(const LocalPort& port);

  LocalProgram local_;  // a copy, because loops add values
  const Mesh& world_;
  Program& program_;
  Function host_;
  RegionId region_;
  std::vector<BufferState> state_;
  std::map<LocalValue, int64_t> uses_;
  std::map<LocalValue, const ShardType*> result_types_;
  std::map<std::vector<std::vector<int64_t>>, ValueId> communicators_;
  std::map<std::string, std::string> copies_;
  std::set<std::pair<uint32_t, StreamKind>> waited_;
  std::set<std::string> names_;
  SourceSpan place_;  // of the step that is being written
  ValueId compute_;
  ValueId comm_;
  std::array<ValueId, 2> last_event_;  // on each stream, unless the host has waited since
};

}  // namespace hostir::importer
