#include "gui/panels/values/tensor_pick.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <set>
#include <string_view>

#include "gui/panels/layout/reshard.h"
#include "hostir/support/lists.h"

namespace hostir::gui {

std::vector<std::string> tensor_names(const interp::Snapshot& shot) {
  std::vector<std::string> names;
  std::set<std::string_view> known;
  for (const auto& memory : shot.memory) {
    for (const interp::AllocationSnapshot& a : memory->allocations) {
      if (known.insert(a.name).second) names.push_back(a.name);
    }
    if (!names.empty() && shot.memory.size() > 64) break;  // all ranks run the same program
  }
  return names;
}

namespace {

enum class Prefer : uint8_t { kRead, kWritten };

// A buffer that an instruction accesses; empty if none is allocated.
std::string touched_by(const interp::Snapshot& shot, interp::CodeIndex index, Prefer prefer) {
  if (!shot.program->code || shot.program->mnemonic(index).empty()) return {};
  const interp::Code& code = *shot.program->code;
  const Function& function = *code.functions[code.instructions[index].function];
  std::string found;
  for (const Operand& operand : code.source(index).operands) {
    if (operand.access == Access::kUse || operand.value.index >= function.values.size()) continue;
    const std::string& name = function.value(operand.value).name;
    const bool wanted = operand.access == Access::kReadWrite ||
                        (operand.access == Access::kRead) == (prefer == Prefer::kRead);
    if (!wanted && !found.empty()) continue;
    if (find_tensor(shot, name).valid()) found = name;
  }
  return found;
}

// At a collective, the buffer that it sends; else the focus rank's newest write; else the next
// buffer that it will write.
std::string default_tensor(const interp::Snapshot& shot) {
  const interp::RankSnapshot& rank = shot.rank(shot.focus);
  const bool runs = rank.status != interp::RankStatus::kDone;
  if (runs && is_communication(*shot.program, rank.code)) {
    if (std::string name = touched_by(shot, rank.code, Prefer::kRead); !name.empty()) return name;
  }
  const interp::AllocationSnapshot* newest = nullptr;
  for (const interp::AllocationSnapshot& a :
       shot.memory[static_cast<size_t>(shot.focus)]->allocations) {
    if (a.live && a.last_writer != interp::kNoTask &&
        (!newest || a.last_writer > newest->last_writer))
      newest = &a;
  }
  if (newest) return newest->name;
  for (interp::CodeIndex next = rank.code, end = next + 24; runs && next < end; ++next) {
    if (std::string name = touched_by(shot, next, Prefer::kWritten); !name.empty()) return name;
  }
  const std::vector<std::string> names = tensor_names(shot);
  return names.empty() ? std::string() : names.front();
}

void follow(Model& model) {
  FollowedValue& followed = model.followed;
  std::string& selected = model.selection.value;
  if (selected.empty()) followed.on = true;
  if (selected != followed.value && !selected.empty()) followed.on = false;
  if (!followed.on || (followed.generation == model.generation() && !selected.empty())) return;
  followed.generation = model.generation();
  followed.value = default_tensor(*model.snapshot());
  if (selected == followed.value) return;
  selected = followed.value;
  // Keep the selected element if the next tensor has that index.
  const TensorView& next = model.tensor(selected);
  const std::vector<int64_t>& element = model.selection.element;
  const bool has = next.valid() && element.size() == next.first->placement.global.size() &&
                   Box::whole(next.first->placement.global).holds(element);
  if (!has) model.selection.element.clear();
}

}  // namespace

namespace {

// Buffers of the program that are not allocated yet; a log may already contain writes to them.
std::vector<std::string> later_names(const interp::Snapshot& shot,
                                     const std::vector<std::string>& allocated) {
  std::vector<std::string> names;
  if (!shot.program->code) return names;
  const interp::Code& code = *shot.program->code;
  for (uint32_t reg = 0; reg < code.registers.size(); ++reg) {
    if (!code.registers[reg].buffer) continue;
    std::string name = code.register_name(reg);
    if (name.starts_with('%')) name.erase(0, 1);
    const auto is_there = [&](const std::vector<std::string>& list) {
      return contains(list, name);
    };
    if (!name.empty() && !is_there(allocated) && !is_there(names)) names.push_back(name);
  }
  return names;
}

}  // namespace

std::string short_name(const std::string& name, float width) {
  const auto fits = [&](const std::string& text) {
    return ImGui::CalcTextSize(text.c_str()).x <= width;
  };
  std::string text = name;
  for (size_t kept = name.size() - 1; !fits(text) && kept > 2; --kept)
    text = name.substr(0, (kept + 1) / 2) + "\u2026" + name.substr(name.size() - kept / 2);
  return text;
}

const TensorView& tensor_combo(Frame& frame, const std::string& widget) {
  follow(frame.model);
  const interp::Snapshot& shot = *frame.model.snapshot();
  std::string& selected = frame.model.selection.value;
  const float width = frame.ui.px(106);
  const float for_name = width - ImGui::GetFrameHeight() - 2 * ImGui::GetStyle().FramePadding.x;
  const std::string full = selected.empty() ? "no tensor" : "%" + selected;
  const std::string shown = short_name(full, for_name);
  ImGui::SetNextItemWidth(width);
  if (ImGui::BeginCombo(("##" + widget).c_str(), shown.c_str())) {
    const auto item = [&](const std::string& name, const std::string& label) {
      if (ImGui::Selectable(label.c_str(), name == selected)) {
        selected = name;
        frame.model.selection.element.clear();
        frame.model.followed.on = false;
        frame.model.followed.value.clear();
      }
      frame.ui.tag(widget + "/item/" + name);
    };
    const std::vector<std::string> allocated = tensor_names(shot);
    for (const std::string& name : allocated) item(name, "%" + name);
    ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().text_dim);
    for (const std::string& name : later_names(shot, allocated))
      item(name, "%" + name + "  not allocated here");
    ImGui::PopStyleColor();
    ImGui::EndCombo();
  }
  frame.ui.tag(widget, selected);
  if (shown != full && ImGui::IsItemHovered()) Ui::tooltip("%s", full.c_str());
  return frame.model.tensor(selected);
}

void follow_box(Frame& frame, const std::string& widget) {
  const std::string& selected = frame.model.selection.value;
  bool on = frame.model.followed.on;
  if (ImGui::Checkbox("follow", &on)) {
    frame.model.followed = {on, on ? selected : "", ~uint64_t{0}};
  }
  frame.ui.tag(widget + "/follow", frame.model.followed.on ? "on" : "off");
  if (ImGui::IsItemHovered())
    Ui::tooltip(
        "Follows the run: shows the tensor of the current collective, or else the last one "
        "written.");
}

const TensorView& pick_tensor(Frame& frame, const std::string& widget) {
  tensor_combo(frame, widget);
  ImGui::SameLine();
  follow_box(frame, widget);
  return frame.model.tensor(frame.model.selection.value);
}

std::string absent_text(const interp::Snapshot& shot, const std::string& name) {
  if (name.empty()) {
    const bool of_calls = !shot.no_stepping.empty() && tensor_names(shot).empty();
    return of_calls ? "This recording has calls but no tensors: see Collectives, Who waits for "
                      "whom and the timeline."
                    : "";
  }
  bool frees = false;  // the focus rank has passed an instruction that frees it
  const interp::RankSnapshot& rank = shot.rank(shot.focus);
  const interp::Code* known = shot.program->code.get();
  for (interp::CodeIndex i = 0; known && i < rank.code && i < known->instructions.size(); ++i) {
    const interp::Code& code = *known;
    if (code.instructions[i].role != interp::CodeRole::kInstruction) continue;
    const Function& function = *code.functions[code.instructions[i].function];
    const Instruction& source = code.source(i);
    for (const Operand& operand : source.operands) {
      frees = frees || (operand.value.index < function.values.size() &&
                        function.value(operand.value).name == name && source.kind == OpKind::free);
    }
  }
  return frees ? fmt::format(
                     "%{} is freed at this position. Step back (Shift+F10) to see its values; "
                     "History shows its writes.",
                     name)
               : fmt::format(
                     "%{} is not allocated yet. Run on to its alloc (F10 steps), or choose another "
                     "tensor.",
                     name);
}

std::string describe_type(const interp::AllocationSnapshot& a) {
  return describe_type(a.placement.dtype, a.placement.global, sharding_of(a.type));
}

std::string describe_type(DType dtype, const Extents& global, const Sharding* sharding) {
  std::string out = fmt::format("{} [{}]", name(dtype), fmt::join(global, ", "));
  if (sharding) out += "  " + sharding->dims_to_string() + "   " + sharding->to_pytorch();
  return out;
}

}  // namespace hostir::gui
