#include "gui/panels/history/write_list.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace hostir::gui {

namespace {

constexpr int64_t kNoMore = std::numeric_limits<int64_t>::max();

using interp::LogValue;
using interp::LogWrite;

bool same(const LogWrite& a, const LogWrite& b) {
  return a.event == b.event && a.row == b.row && a.rank == b.rank;
}

std::optional<std::vector<int64_t>> element_of(const WriteListKey& key) {
  return key.element.empty() ? std::nullopt : std::optional(key.element);
}

// Rows in the order of the places; null for rows that the log does not have.
std::vector<std::unique_ptr<WriteRow>> rows_at(const interp::LogView& log,
                                               const std::vector<LogWrite>& places,
                                               std::vector<LogValue> values) {
  std::vector<std::unique_ptr<WriteRow>> rows(places.size());
  size_t i = 0;
  for (LogValue& value : values) {
    while (i < places.size() && (places[i].event != value.event || places[i].rank != value.rank))
      ++i;
    if (i == places.size()) break;
    std::string loop = log.loop_path(value.loop_path);
    rows[i++] = std::make_unique<WriteRow>(WriteRow{std::move(value), std::move(loop)});
  }
  return rows;
}

}  // namespace

const WriteRow* WriteList::row(size_t i) const {
  const auto page = state_->pages.find(i / kPage);
  if (page == state_->pages.end() || i % kPage >= page->second.size()) return nullptr;
  return page->second[i % kPage].get();
}

size_t WriteList::next_of_rank(size_t i) const {
  constexpr size_t kNear = 4096;
  const std::vector<LogWrite>& places = state_->places;
  for (size_t next = i + 1; next < std::min(places.size(), i + kNear); ++next) {
    if (places[next].rank == places[i].rank) return next;
  }
  return places.size();
}

void WriteList::update(Model& model, const WriteListKey& key) {
  if (!state_->key.same_list(key)) {
    state_ = std::make_shared<State>();  // pending answers keep the old state alive
    state_->key = key;
  } else if (!(state_->key == key)) {
    state_->key = key;
    state_->grown = true;
  }
  if (state_->grown && state_->places_done && !state_->asked_places) {
    // The old list stays visible until the new one is complete.
    state_->grown = false;
    state_->relisting = true;
    state_->relisted.clear();
    state_->relisted_undone = 0;
    state_->next_event = -1;
    state_->places_done = false;
  }
  if (!state_->places_done && !state_->asked_places) ask_places(model);
}

void WriteList::take_places(State& state, interp::LogWrites found) {
  std::vector<LogWrite>& into = state.relisting ? state.relisted : state.places;
  into.insert(into.end(), found.places.begin(), found.places.end());
  (state.relisting ? state.relisted_undone : state.undone) += found.left_out;
  state.next_event = found.next_event;
  if (found.next_event != kNoMore) return;
  state.places_done = true;
  if (std::exchange(state.relisting, false)) replace_places(state);
}

// Keeps rows of writes that are in both lists, except those that were in flight.
void WriteList::replace_places(State& state) {
  size_t equal = 0;
  const size_t common = std::min(state.places.size(), state.relisted.size());
  while (equal < common && same(state.places[equal], state.relisted[equal])) ++equal;
  state.places = std::move(state.relisted);
  state.relisted = {};
  state.undone = state.relisted_undone;
  state.rows_read = 0;
  for (auto page = state.pages.begin(); page != state.pages.end();) {
    const bool old = (page->first + 1) * kPage <= equal &&
                     std::all_of(page->second.begin(), page->second.end(), [](const auto& row) {
                       return row && row->write.time_ns != interp::kUnknownNs;
                     });
    if (old) state.rows_read += page->second.size();
    page = old ? std::next(page) : state.pages.erase(page);
  }
}

void WriteList::ask_places(Model& model) {
  state_->asked_places = true;
  model.worker().query_log(
      "history/list",
      [state = state_, key = state_->key, first = state_->next_event,
       seen = state_->relisting ? state_->log_generation : ~uint64_t{0}](
          const interp::LogView& log, std::stop_token stop) -> std::function<void()> {
        const interp::LogExtent extent = log.extent();
        if (first < 0 && extent.generation == seen) {
          return [state] {
            state->asked_places = false;
            state->relisting = false;
            state->places_done = true;
          };
        }
        const bool known =
            std::any_of(log.tensors().begin(), log.tensors().end(),
                        [&](const interp::LogTensor& t) { return t.name == key.value; });
        auto found = std::make_shared<Expected<interp::LogWrites>>(
            log.find_writes({.value = key.value,
                             .element = element_of(key),
                             .first_event = first,
                             .shown_only = true},
                            stop));
        return [state, found, known, extent] {
          state->asked_places = false;
          state->begun = true;
          state->known = known;
          state->log_generation = extent.generation;
          if (!*found) {
            state->error = found->error().message();
            state->places_done = true;
            return;
          }
          take_places(*state, std::move(**found));
          const auto events = static_cast<double>(std::max<int64_t>(1, extent.event_count));
          state->share =
              state->places_done
                  ? 1
                  : std::min(1.0,
                             static_cast<double>(std::max<int64_t>(0, state->next_event)) / events);
        };
      });
}

void WriteList::forget_far_pages(size_t page) {
  while (state_->pages.size() > kMaxPages) {
    const auto first = state_->pages.begin();
    const auto last = std::prev(state_->pages.end());
    const bool drop_first =
        page - std::min(page, first->first) > last->first - std::min(last->first, page);
    const auto far = drop_first ? first : last;
    state_->rows_read -= far->second.size();
    state_->pages.erase(far);
  }
}

void WriteList::want(Model& model, size_t first, size_t last) {
  const std::vector<LogWrite>& places = state_->places;
  if (places.empty()) return;
  const size_t page_count = (places.size() + kPage - 1) / kPage;
  const size_t from = std::min(first / kPage, page_count - 1);
  const size_t to = std::min(last / kPage + 1, page_count);
  const auto missing = [&](size_t page) {
    const auto found = state_->pages.find(page);
    const size_t rows = std::min(kPage, places.size() - page * kPage);
    return found == state_->pages.end() || found->second.size() < rows;
  };
  const bool asked = state_->asked_page != ~size_t{0};
  for (size_t page = from; page < to; ++page) {
    if (!missing(page)) continue;
    const bool in_view = asked && state_->asked_page >= from && state_->asked_page < to;
    if (!in_view) ask_pages(model, page, 1);
    return;
  }
  if (asked || state_->pages.size() + kPagesAtOnce > kMaxPages) return;
  // In the background, read what follows the view, then what precedes it.
  for (size_t n = 0; n < page_count; ++n) {
    const size_t page = (from + n) % page_count;
    if (!missing(page)) continue;
    size_t count = 1;
    while (count < kPagesAtOnce && page + count < page_count && missing(page + count)) ++count;
    return ask_pages(model, page, count);
  }
}

void WriteList::ask_pages(Model& model, size_t page, size_t count) {
  forget_far_pages(page);
  state_->asked_page = page;
  const std::vector<LogWrite>& all = state_->places;
  const size_t end = std::min(all.size(), (page + count) * kPage);
  std::vector<LogWrite> places(all.begin() + static_cast<std::ptrdiff_t>(page * kPage),
                               all.begin() + static_cast<std::ptrdiff_t>(end));
  model.worker().query_log(
      "history/values",
      [state = state_, element = element_of(state_->key), page, places = std::move(places)](
          const interp::LogView& log, std::stop_token stop) -> std::function<void()> {
        auto values = log.read_writes(places, element, stop);
        if (!values) {
          return [state, message = values.error().message()] {
            state->asked_page = ~size_t{0};
            state->error = message;
          };
        }
        auto rows = std::make_shared<Page>(rows_at(log, places, std::move(*values)));
        return [state, page, places, rows] {
          state->asked_page = ~size_t{0};
          for (size_t i = 0; i < rows->size(); i += kPage) {
            const size_t at = page * kPage + i;
            // The list was rebuilt in the meantime, and these places are now other writes.
            if (at >= state->places.size() || !same(state->places[at], places[i])) return;
            Page& into = state->pages[page + i / kPage];
            state->rows_read -= into.size();
            into.clear();
            for (size_t j = i; j < std::min(rows->size(), i + kPage); ++j)
              into.push_back(std::move((*rows)[j]));
            state->rows_read += into.size();
          }
        };
      });
}

}  // namespace hostir::gui
