// Convolution: windows of the left side, unfolded, times the right side in one dot_general. A
// window of one element needs no copy.

#include <algorithm>
#include <array>

#include "hostir/import/emit/handlers.h"
#include "hostir/import/ops/windows.h"
#include "hostir/support/characters.h"

namespace hostir::importer {

namespace {

using Extent = std::vector<int64_t>;
// The index of a label; -1 if it is missing.
int64_t find_label(const Labels& labels, std::string_view label) {
  const auto found = std::find(labels.begin(), labels.end(), label);
  return found == labels.end() ? -1 : found - labels.begin();
}

class Convolution {
 public:
  explicit Convolution(const OpSite& s)
      : s_(s),
        e_(s.emitter),
        labels_(convolution_labels(s.op)),
        // Leading dimensions of both sides that are batch dimensions; see mapped_ops.cpp.
        lead_(static_cast<size_t>(s.op.integer_or("lead", 0))),
        features_(s.op.integer_or("feature_group_count", 1)),
        batches_(s.op.integer_or("batch_group_count", 1)) {}

  Expected<void> emit() {
    HOSTIR_TRY(check());
    const auto spatial = labels_[0].size() - 2;
    Extent widths;
    for (size_t i = 0; i < spatial; ++i) widths.push_back(size(1, std::to_string(i)));
    const auto windows = windows_of(s_.op, widths);
    if (!windows) return s_.emitter.opaque(s_, "windows out of range");
    windows_ = *windows;
    HOSTIR_TRY(our_type(s_.result_type(), s_.op.span));
    if (s_.result_type().element_count() == 0) return s_.set(e_.number(0, s_.result_type()));
    for (size_t i = 0; i < spatial; ++i) {
      if (windows_[i].places(size(0, std::to_string(i))) < 1)
        return s_.fail("import_c2", "its window is larger than the padded operand");
    }
    const std::string& element = s_.result_type().element;
    HOSTIR_ASSIGN_OR_RETURN(const Known x, e_.cast(s_.in(0), element));
    HOSTIR_ASSIGN_OR_RETURN(const Known w, e_.cast(s_.in(1), element));
    HOSTIR_ASSIGN_OR_RETURN(const Side left, left_side(x));
    HOSTIR_ASSIGN_OR_RETURN(const Side right, right_side(w));
    HOSTIR_ASSIGN_OR_RETURN(Known y, contracted(left, right));
    return s_.set(std::move(y));
  }

 private:
  struct Side {
    Known value;
    Labels labels;  // of all its dimensions; "g" is the group, "w0" the elements of a window
  };

  size_t place(size_t side, std::string_view label) const {
    return lead_ + static_cast<size_t>(find_label(labels_[side], label));
  }
  int64_t size(size_t side, std::string_view label) const {
    return s_.in(side).type.dims[place(side, label)];
  }
  bool grouped() const { return features_ > 1 || batches_ > 1; }
  int64_t groups() const { return std::max(features_, batches_); }

  Expected<void> check() const {
    const std::array<const char*, 6> needed = {"b", "f", "i", "o", "b", "f"};
    for (size_t side = 0; side < 3; ++side) {
      const size_t rank = side < 2 ? s_.in(side).type.dims.size() : s_.result_type().dims.size();
      bool good = labels_[side].size() >= 2 && lead_ < rank &&
                  labels_[side].size() + lead_ == rank &&
                  find_label(labels_[side], needed[2 * side]) >= 0 &&
                  find_label(labels_[side], needed[2 * side + 1]) >= 0;
      for (size_t i = 0; good && i + 2 < labels_[side].size(); ++i)
        good = find_label(labels_[side], std::to_string(i)) >= 0;
      if (!good || labels_[side].size() != labels_[0].size())
        return s_.fail("import_c2",
                       "its dimension numbers do not name the dimensions of the "
                       "operands and the result");
    }
    const bool sizes = features_ >= 1 && batches_ >= 1 && (features_ == 1 || batches_ == 1) &&
                       size(0, "f") % features_ == 0 && size(0, "f") / features_ == size(1, "i") &&
                       size(0, "b") % batches_ == 0 && size(1, "o") % groups() == 0;
    if (!sizes) return s_.fail("import_c2", "its features, groups and filters do not fit");
    return {};
  }

  Labels with_lead(const Labels& labels) const {
    Labels out;
    for (size_t i = 0; i < lead_; ++i) out.push_back("lead" + std::to_string(i));
    out.insert(out.end(), labels.begin(), labels.end());
    return out;
  }

  // Splits a dimension into two: the groups, and the elements of one group.
  Expected<void> split(Side& side, size_t d) const {
    Extent dims = side.value.type.dims;
    dims[d] /= groups();
    dims.insert(dims.begin() + static_cast<int64_t>(d), groups());
    HOSTIR_ASSIGN_OR_RETURN(side.value, e_.reshaped(side.value, std::move(dims)));
    side.labels.insert(side.labels.begin() + static_cast<int64_t>(d), "g");
    return {};
  }

  // Each dimension is padded just before it is unfolded: the windows along a cut dimension are then
  // slices of one padded value, which share an exchange. The first dimension is unfolded first,
  // because it is the one that is usually cut.
  Expected<Side> left_side(const Known& x) const {
    Side out{x, with_lead(labels_[0])};
    for (size_t d = out.labels.size(); d-- > lead_;) {  // from the back: indices stay valid
      const std::string label = out.labels[d];
      if ((label == "f" && features_ > 1) || (label == "b" && batches_ > 1))
        HOSTIR_TRY(split(out, d));
    }
    const Known zero = e_.number(0, tensor_type(x.type.element, {}));
    for (size_t d = lead_; d < out.labels.size(); ++d) {
      const std::string label = out.labels[d];
      if (!is_digit(label.front())) continue;
      Window w = windows_[static_cast<size_t>(std::stoi(label))];
      std::vector<Window> padding(out.labels.size());
      padding[d] = w;
      HOSTIR_ASSIGN_OR_RETURN(out.value, padded(e_, out.value, zero, padding));
      w.low = w.high = w.inside = 0;
      if (w.width == 1) {
        const int64_t places = w.places(out.value.type.dims[d]);
        HOSTIR_ASSIGN_OR_RETURN(out.value, every(e_, out.value, d, 0, places, w.stride));
        continue;
      }
      HOSTIR_ASSIGN_OR_RETURN(out.value, unfolded(e_, out.value, d, w));
      out.labels.insert(out.labels.begin() + static_cast<int64_t>(d), "w" + label);
      ++d;
    }
    return out;
  }

  Expected<Side> right_side(const Known& w) const {
    Side out{w, with_lead(labels_[1])};
    Extent reversed;
    for (size_t i = 0; i < windows_.size(); ++i) {
      if (windows_[i].reversed && windows_[i].width > 1)
        reversed.push_back(static_cast<int64_t>(place(1, std::to_string(i))));
    }
    if (!reversed.empty()) {
      Attributes attributes;
      attributes.set("dims", IntList(reversed));
      HOSTIR_ASSIGN_OR_RETURN(out.value, e_.apply(OpKind::reverse, {w}, std::move(attributes)));
    }
    if (grouped()) HOSTIR_TRY(split(out, place(1, "o")));
    Extent kept;
    Labels labels;
    for (size_t d = 0; d < out.labels.size(); ++d) {
      const std::string& label = out.labels[d];
      const bool window = label[0] >= '0' && label[0] <= '9';
      if (window && out.value.type.dims[d] == 1) continue;
      kept.push_back(out.value.type.dims[d]);
      labels.push_back(window ? "w" + label : label);
    }
    HOSTIR_ASSIGN_OR_RETURN(out.value, e_.reshaped(out.value, std::move(kept)));
    out.labels = std::move(labels);
    return out;
  }

  Expected<Known> contracted(const Side& left, const Side& right) const {
    Extent batch[2];
    Extent depth[2];
    Labels given;  // of the product: batch, left, right
    Labels rows;
    for (size_t d = 0; d < left.labels.size(); ++d) {
      const std::string& label = left.labels[d];
      const int64_t other = find_label(right.labels, label == "f" ? "i" : label);
      if (other < 0) {
        rows.push_back(label);
        continue;
      }
      const bool shared = label == "g" || label.starts_with("lead");
      (shared ? batch : depth)[0].push_back(static_cast<int64_t>(d));
      (shared ? batch : depth)[1].push_back(other);
      if (shared) given.push_back(label);
    }
    given.insert(given.end(), rows.begin(), rows.end());
    given.emplace_back("o");
    Attributes attributes;
    attributes.set("lhs_batch", IntList(batch[0]));
    attributes.set("rhs_batch", IntList(batch[1]));
    attributes.set("lhs_contracting", IntList(depth[0]));
    attributes.set("rhs_contracting", IntList(depth[1]));
    HOSTIR_ASSIGN_OR_RETURN(
        const Known product,
        e_.apply(OpKind::dot_general, {left.value, right.value}, std::move(attributes)));
    Extent order;
    for (const std::string& label : with_lead(labels_[2])) {
      if (label == "f" && grouped()) order.push_back(find_label(given, "g"));
      order.push_back(find_label(given, label == "f" ? "o" : label));
    }
    HOSTIR_ASSIGN_OR_RETURN(const Known y, e_.transposed(product, order));
    Extent dims;
    for (size_t d = 0; d < y.type.dims.size(); ++d) {
      const bool joins = d > 0 && grouped() && given[static_cast<size_t>(order[d - 1])] == "g";
      if (joins)
        dims.back() *= y.type.dims[d];
      else
        dims.push_back(y.type.dims[d]);
    }
    return e_.reshaped(y, std::move(dims));
  }

  const OpSite& s_;
  Emitter& e_;
  std::array<Labels, 3> labels_;
  size_t lead_;
  int64_t features_;
  int64_t batches_;
  std::vector<Window> windows_;
};

Expected<void> emit_convolution(const OpSite& s) { return Convolution(s).emit(); }

constexpr HandlerRow kConvolutionRows[] = {{"stablehlo.convolution", emit_convolution, 2}};

}  // namespace

// `[b, 0, f]x[0, i, o]->[b, 0, f]`, or `b0f_0io->b0f` in HLO.
std::array<Labels, 3> convolution_labels(const ModuleOp& op) {
  std::array<Labels, 3> out;
  const Attr* attr = op.find("dim_numbers");
  if (attr == nullptr) attr = op.find("dimension_numbers");
  if (attr == nullptr) return out;
  if (attr->items.size() == 3) {
    for (size_t i = 0; i < 3; ++i) {
      for (const Attr& item : attr->items[i].items)
        out[i].push_back(item.kind == Attr::Kind::kInt ? std::to_string(item.integer) : item.text);
    }
    return out;
  }
  size_t list = 0;
  for (const char c : attr->text) {
    if (c == '_' || (c == 'x' && list == 0) || (c == '>' && list == 1)) ++list;
    const bool labels = is_digit(c) || c == 'b' || c == 'f' || c == 'i' || c == 'o';
    if (labels && list < 3) out[list].emplace_back(1, c);
  }
  return out;
}

std::span<const HandlerRow> convolution_handlers() { return kConvolutionRows; }

}  // namespace hostir::importer
