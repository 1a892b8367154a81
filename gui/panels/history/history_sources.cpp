#include "gui/panels/history/history_sources.h"

namespace hostir::gui {

void HistorySources::update(Model& model, const std::string& value,
                            const std::vector<int64_t>& element) {
  const bool same =
      state_->value == value && state_->element == element && state_->opened == model.last_opened();
  if (!same) {
    state_ = std::make_shared<State>();
    state_->value = value;
    state_->element = element;
    state_->opened = model.last_opened();
  }
  state_->generation = model.generation();
}

const std::vector<SourceRow>* HistorySources::of(const interp::LogWrite& place) const {
  const auto found = state_->entries.find({place.event, place.rank});
  return found == state_->entries.end() ? nullptr : &found->second.rows;
}

bool HistorySources::ask(Model& model, const interp::LogValue& write) {
  const auto key = std::pair(write.event, write.rank);
  const auto known = state_->entries.find(key);
  if (known != state_->entries.end() && known->second.generation == state_->generation)
    return false;
  if (state_->asked) return true;
  state_->asked = true;
  model.worker().query_log(
      "history/sources",
      [state = state_, key, write, element = state_->element, generation = state_->generation,
       program = model.snapshot()->program](const interp::LogView& log,
                                            std::stop_token stop) -> std::function<void()> {
        auto rows = std::make_shared<Expected<std::vector<SourceRow>>>(
            make_sources(log, *program, write, element, stop));
        return [state, key, generation, rows] {
          state->asked = false;
          // If the log cannot tell, store an empty list.
          state->entries[key] = {generation, *rows ? std::move(**rows) : std::vector<SourceRow>{}};
        };
      });
  return true;
}

const std::string& HistorySources::instruction(Model& model, interp::CodeIndex code) {
  static const std::string kUnknown;
  if (instructions_->opened != model.last_opened() || !instructions_->asked) {
    instructions_ = std::make_shared<Instructions>();
    instructions_->opened = model.last_opened();
    instructions_->asked = true;
    model.worker().query_log(
        "history/instructions",
        [to = instructions_](const interp::LogView& log, std::stop_token) -> std::function<void()> {
          std::vector<std::string> texts;
          for (size_t i = 0; i < log.instructions().size(); ++i)
            texts.push_back(instruction_text(log, static_cast<interp::CodeIndex>(i)));
          return [to, texts] { to->texts = texts; };
        });
  }
  return code < instructions_->texts.size() ? instructions_->texts[code] : kUnknown;
}

}  // namespace hostir::gui
