#include "hostir/ops/bind_function.h"

namespace hostir {

namespace {

// Replaces sizes in place and records the first one that becomes negative.
class Binder {
 public:
  explicit Binder(const SizeBindings& sizes) : lookup_(sizes.lookup()) {}

  void expr(IndexExpr& e) const { e = e.simplified(lookup_); }

  void shape(Shape& s) {
    for (IndexExpr& e : s) {
      expr(e);
      if (e.is_const() && e.value() < 0 && !negative_) negative_ = e.value();
    }
  }

  void type(Type& t) {
    if (auto* tensor = std::get_if<TensorType>(&t)) shape(tensor->shape);
    if (auto* shard = std::get_if<ShardType>(&t)) shape(shard->shape);
  }

  void attributes(Attributes& attributes) {
    const auto entries = attributes.entries();
    for (const auto& [name, value] : entries) {
      Attribute bound = value;
      if (auto* e = std::get_if<IndexExpr>(&bound)) expr(*e);
      if (auto* list = std::get_if<ExprList>(&bound)) {
        for (IndexExpr& e : *list) expr(e);
      }
      if (auto* t = std::get_if<Type>(&bound)) type(*t);
      if (bound != value) attributes.set(name, std::move(bound));
    }
  }

  // A `constant` with attribute `size` gets that number as its value once the size is known.
  void constant(Instruction& i) const {
    const auto* size = i.attributes.get<IndexExpr>("size");
    if (i.kind != OpKind::constant || size == nullptr || !size->is_const()) return;
    Attributes value;
    value.set("value", static_cast<double>(size->value()));
    i.attributes = std::move(value);
  }

  void function(Function& f) {
    for (Value& v : f.values) type(v.type);
    for (Instruction& i : f.instructions) {
      attributes(i.attributes);
      constant(i);
    }
    for (ResultDecl& r : f.results) type(r.type);
  }

  std::optional<int64_t> negative() const { return negative_; }

 private:
  IndexExpr::Lookup lookup_;
  std::optional<int64_t> negative_;
};

void find_size(const IndexExpr& expr, std::optional<std::string>& found) {
  expr.for_each_leaf([&](const IndexExpr& leaf) {
    if (leaf.kind() == IndexExpr::Kind::kSize) found = leaf.symbol();
  });
}

}  // namespace

std::optional<int64_t> bind_function(Function& function, const SizeBindings& sizes) {
  Binder binder(sizes);
  binder.function(function);
  return binder.negative();
}

std::optional<std::string> size_in_attributes(const Function& function) {
  std::optional<std::string> found;
  for (const Instruction& i : function.instructions) {
    for (const auto& [name, value] : i.attributes.entries()) {
      if (const auto* e = std::get_if<IndexExpr>(&value)) find_size(*e, found);
      if (const auto* list = std::get_if<ExprList>(&value)) {
        for (const IndexExpr& e : *list) find_size(e, found);
      }
    }
  }
  return found;
}

}  // namespace hostir
