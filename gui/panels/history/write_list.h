// All writes of a tensor or element, as a list that fills while it is viewed.
//
// The log first returns the positions of the writes, a range at a time (so their number is known
// within milliseconds), then their contents: visible rows first, the others in the background as
// far as memory allows. Queries run on the log's thread; answers for an older key are dropped.
// Invariant: `row(i)` belongs to `place(i)`, or is null if it has not arrived.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gui/state/model.h"

namespace hostir::gui {

struct WriteListKey {
  std::string value;             // without '%'
  std::vector<int64_t> element;  // global index; empty: the whole tensor
  uint64_t opened = 0;           // Model::last_opened()
  uint64_t generation = 0;       // of the model: changes when a live log may have grown
  bool same_list(const WriteListKey& o) const {
    return value == o.value && element == o.element && opened == o.opened;
  }
  friend bool operator==(const WriteListKey&, const WriteListKey&) = default;
};

struct WriteRow {
  interp::LogValue write;
  std::string loop;  // `3.0`
};

class WriteList {
 public:
  /// Call each frame, before any other function.
  void update(Model& model, const WriteListKey& key);
  /// Declares the visible rows; requests what is missing, these rows first.
  void want(Model& model, size_t first, size_t last);

  bool known() const { return state_->known; }  // the log has a tensor with this name
  bool listed() const { return state_->places_done; }
  bool begun() const { return state_->begun; }  // the first answer has arrived
  const std::string& error() const { return state_->error; }
  size_t size() const { return state_->places.size(); }
  /// Number of rows whose values have been read.
  size_t read() const { return state_->rows_read; }
  /// True if missing rows are read in the background; else only when visible.
  bool fills() const { return state_->pages.size() + kPagesAtOnce <= kMaxPages; }
  /// Fraction of the log that has been scanned, 0..1.
  double share_listed() const { return state_->share; }
  /// Writes not in the list because the run stepped back before them and took another path.
  int64_t undone() const { return state_->undone; }
  const interp::LogWrite& place(size_t i) const { return state_->places[i]; }
  const WriteRow* row(size_t i) const;
  /// The next write of the same rank after `i`, if it is near; otherwise size().
  size_t next_of_rank(size_t i) const;

 private:
  static constexpr size_t kPage = 256;
  static constexpr size_t kMaxPages = 512;    // cached pages: about 20 MB
  static constexpr size_t kPagesAtOnce = 32;  // pages per query for rows that are not visible
  using Page = std::vector<std::unique_ptr<WriteRow>>;  // null: the log has no such row
  struct State {
    WriteListKey key;
    bool begun = false;
    bool known = false;
    bool places_done = false;
    bool asked_places = false;
    int64_t next_event = -1;
    double share = 0;
    uint64_t log_generation = ~uint64_t{0};
    std::vector<interp::LogWrite> places;
    std::vector<interp::LogWrite> relisted;  // the new list during a rescan of a grown log
    bool relisting = false;
    int64_t undone = 0;
    int64_t relisted_undone = 0;
    bool grown = false;  // the log may have grown since the scan began
    std::map<size_t, Page> pages;
    size_t rows_read = 0;
    size_t asked_page = ~size_t{0};  // first page of the pending query
    std::string error;
  };
  void ask_places(Model& model);
  void ask_pages(Model& model, size_t page, size_t count);
  void forget_far_pages(size_t page);
  static void take_places(State& state, interp::LogWrites found);
  static void replace_places(State& state);

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace hostir::gui
