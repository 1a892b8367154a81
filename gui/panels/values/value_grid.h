// Columns of the table of values: how many digits its numbers have, so that all columns fit where
// that is possible.
//
// No number is ever cut: if even three digits do not fit, the table scrolls and shows whole columns
// only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gui/panels/values/value_text.h"
#include "gui/tree/panel.h"
#include "interp/session/values/value_query.h"

namespace hostir::gui {

class ValueGrid {
 public:
  /// What widths depend on.
  struct Key {
    uint64_t reading = 0;  // ReadingSlot::serial
    ValueFormat format = ValueFormat::kDecimal;
    float space = 0;  // width of the table, in pixels
    int64_t columns = 0;
    int64_t rows = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };

  /// Call before the table begins. `there` says which elements are written; null: all of them.
  void fit(const Frame& frame, const interp::ValueReading& reading, const Key& key,
           const std::vector<bool>* there);
  /// Declares the columns of the current table: row labels, then one per element of a row.
  void set_up() const;
  static void draw_header(const interp::ValueReading& reading);
  /// Element `i`, or a dot if it is not written.
  std::string text(const Tensor& tensor, int64_t i, bool there) const;
  /// The text, or an ellipsis if the table's edge would cut it in the current cell.
  static std::string uncut(std::string text);
  /// `0,3`: the index without its last dimension.
  static std::string row_label(const Box& box, int64_t row, int64_t columns);

 private:
  /// Sets the widths for a number of digits and returns the width of the whole table.
  float measure(const Frame& frame, const interp::ValueReading& reading,
                const std::vector<bool>* there, int digits);

  Key key_;
  float scale_ = 0;
  int digits_ = 6;
  std::vector<float> widths_;  // first the labels'
};

}  // namespace hostir::gui
