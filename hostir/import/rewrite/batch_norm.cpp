#include "hostir/import/rewrite/batch_norm.h"

#include <map>

#include "hostir/import/rewrite/op_builder.h"

namespace hostir::importer {

namespace {

constexpr std::string_view kBatchNorm = "stablehlo.batch_norm_";

// The number of operands and results, by the rest of the name.
struct NormForm {
  std::string_view name;
  size_t operands;
  size_t results;
};
constexpr NormForm kNormForms[] = {{"training", 3, 3}, {"inference", 5, 1}, {"grad", 5, 3}};

bool holds_batch_norm(const ModuleBlock& block) {
  for (const ModuleOp& op : block.ops) {
    if (op.name.starts_with(kBatchNorm)) return true;
    for (const ModuleBlock& region : op.regions) {
      if (holds_batch_norm(region)) return true;
    }
  }
  return false;
}

// One operation. Everything is computed in f32, or f64, and rounded once.
class WrittenNorm {
 public:
  WrittenNorm(ModuleFunction& f, const ModuleOp& op, std::vector<ModuleOp>& out)
      : op_(op), element_(f.type(op.operands[0]).element), b_(f, out, op.span, "norm") {
    const std::string computed = element_ == "f64" ? "f64" : "f32";
    for (const ValueNumber operand : op.operands) in_.push_back(b_.convert(operand, computed));
    whole_ = b_.type(in_[0]);
    feature_ = op.integer_or("feature_index", 0);
    row_ = tensor_type(computed, {whole_.dims[static_cast<size_t>(feature_)]});
    epsilon_ = op.find("epsilon")->real;
    per_feature_ = static_cast<double>(whole_.element_count()) / static_cast<double>(row_.dims[0]);
  }

  // Appends the operations; the values are in the order of the operation's results.
  std::vector<ValueNumber> results() {
    std::vector<ValueNumber> out = computed();
    for (ValueNumber& value : out) value = b_.convert(value, element_);
    return out;
  }

 private:
  std::vector<ValueNumber> computed() {
    if (op_.name.ends_with("training")) return training();
    if (op_.name.ends_with("inference")) return {normed(in_[3], in_[4], in_[2])};
    return gradients();
  }

  std::vector<ValueNumber> training() {
    const ValueNumber mean = average(in_[0]);
    const ValueNumber centred = b_.sub(in_[0], spread(mean));
    const ValueNumber variance = average(b_.mul(centred, centred));
    return {normed(mean, variance, in_[2]), mean, variance};
  }

  std::vector<ValueNumber> gradients() {
    const ValueNumber upstream = in_[4];
    const ValueNumber deviation = deviation_of(in_[3]);
    const ValueNumber unit = b_.div(b_.sub(in_[0], spread(in_[2])), spread(deviation));
    const ValueNumber by_offset = sum(upstream);
    const ValueNumber by_scale = sum(b_.mul(upstream, unit));
    const ValueNumber along_mean = spread(mean_of(by_offset));
    const ValueNumber along_scale = b_.mul(unit, spread(mean_of(by_scale)));
    const ValueNumber rest = b_.sub(b_.sub(upstream, along_mean), along_scale);
    return {b_.mul(spread(b_.div(in_[1], deviation)), rest), by_scale, by_offset};
  }

  // scale * (x - mean) / sqrt(variance + epsilon) + offset
  ValueNumber normed(ValueNumber mean, ValueNumber variance, ValueNumber offset) {
    const ValueNumber centred = b_.sub(in_[0], spread(mean));
    const ValueNumber unit = b_.div(centred, spread(deviation_of(variance)));
    return b_.add(b_.mul(unit, spread(in_[1])), spread(offset));
  }

  ValueNumber deviation_of(ValueNumber variance) {
    return b_.op("stablehlo.sqrt", {b_.add(variance, b_.all_equal(epsilon_, row_))});
  }

  ValueNumber spread(ValueNumber row) {
    return b_.op("stablehlo.broadcast_in_dim", {row}, whole_,
                 {{"broadcast_dimensions", Attr::of_ints({feature_})}});
  }

  // Sums over all dimensions except the feature dimension.
  ValueNumber sum(ValueNumber value) {
    std::vector<int64_t> dims;
    for (int64_t d = 0; d < static_cast<int64_t>(whole_.dims.size()); ++d) {
      if (d != feature_) dims.push_back(d);
    }
    const ValueNumber zero = b_.all_equal(0, tensor_type(row_.element, {}));
    return b_.op(
        "stablehlo.reduce", {value, zero}, row_,
        {{"applies", Attr::of_word("stablehlo.add")}, {"dimensions", Attr::of_ints(dims)}});
  }

  ValueNumber mean_of(ValueNumber total) { return b_.div(total, b_.all_equal(per_feature_, row_)); }
  ValueNumber average(ValueNumber value) { return mean_of(sum(value)); }

  const ModuleOp& op_;
  std::string element_;
  OpBuilder b_;
  std::vector<ValueNumber> in_;
  ModuleType whole_;  // of the values to normalise
  ModuleType row_;    // one number per feature
  int64_t feature_ = 0;
  double epsilon_ = 0;
  double per_feature_ = 0;  // how many elements each feature has
};

// Whether the types are as StableHLO defines them: a float tensor, whose gradient has its type, and
// one number per feature elsewhere.
bool is_well_formed(const ModuleFunction& f, const ModuleOp& op) {
  for (const NormForm& form : kNormForms) {
    if (op.name.substr(kBatchNorm.size()) != form.name) continue;
    if (op.operands.size() != form.operands || op.results.size() != form.results) return false;
    const ModuleType& whole = f.type(op.operands[0]);
    const auto dtype = whole.dtype();
    const Attr* epsilon = op.find("epsilon");
    const int64_t feature = op.integer_or("feature_index", -1);
    if (!whole.is_tensor() || !dtype || !is_float(*dtype) || whole.element_count() < 1 ||
        epsilon == nullptr || epsilon->kind != Attr::Kind::kFloat || feature < 0 ||
        feature >= static_cast<int64_t>(whole.dims.size()))
      return false;
    const ModuleType row = tensor_type(whole.element, {whole.dims[static_cast<size_t>(feature)]});
    for (size_t i = 1; i < op.operands.size(); ++i) {
      const bool gradient = form.name == "grad" && i == 4;
      if (!(f.type(op.operands[i]) == (gradient ? whole : row))) return false;
    }
    for (size_t i = 0; i < op.results.size(); ++i) {
      if (!(f.type(op.results[i]) == (i == 0 ? whole : row))) return false;
    }
    return true;
  }
  return false;
}

class NormWriter {
 public:
  explicit NormWriter(ModuleFunction& f) : f_(f) {}

  void block(ModuleBlock& b) {
    std::vector<ModuleOp> out;
    for (ModuleOp& op : b.ops) {
      for (ValueNumber& operand : op.operands) {
        if (const auto now = now_.find(operand); now != now_.end()) operand = now->second;
      }
      for (ModuleBlock& region : op.regions) block(region);
      if (!op.name.starts_with(kBatchNorm) || !is_well_formed(f_, op)) {
        out.push_back(std::move(op));
        continue;
      }
      const auto values = WrittenNorm(f_, op, out).results();
      for (size_t i = 0; i < values.size(); ++i) now_[op.results[i]] = values[i];
    }
    b.ops = std::move(out);
  }

 private:
  ModuleFunction& f_;
  std::map<ValueNumber, ValueNumber> now_;  // the operation that now computes the result
};

}  // namespace

void write_out_batch_norms(Module& module) {
  for (ModuleFunction& f : module.functions) {
    if (!holds_batch_norm(f.body)) continue;
    NormWriter(f).block(f.body);
    count_uses(f);
  }
}

}  // namespace hostir::importer
