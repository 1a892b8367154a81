#include "hostir/ops/bind_function.h"

namespace hostir {

namespace {

class Binder {
 public:
  explicit Binder(IndexExpr::Lookup lookup) : lookup_(std::move(lookup)) {}

  void expr(IndexExpr& e) const { e = e.simplified(lookup_); }

  void shape(Shape& s) const {
    for (IndexExpr& e : s) expr(e);
  }

  void type(Type& t) const {
    if (auto* tensor = std::get_if<TensorType>(&t)) shape(tensor->shape);
    if (auto* shard = std::get_if<ShardType>(&t)) shape(shard->shape);
  }

  void attributes(Attributes& attributes) const {
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

  void instruction(Instruction& i) const {
    attributes(i.attributes);
    constant(i);
  }

  void function(Function& f) const {
    for (Value& v : f.values) type(v.type);
    for (Instruction& i : f.instructions) instruction(i);
    for (ResultDecl& r : f.results) type(r.type);
  }

 private:
  IndexExpr::Lookup lookup_;
};

void find_size(const IndexExpr& expr, std::optional<std::string>& found) {
  expr.for_each_leaf([&](const IndexExpr& leaf) {
    if (leaf.kind() == IndexExpr::Kind::kSize) found = leaf.symbol();
  });
}

}  // namespace

void bind_function(Function& function, const SizeBindings& sizes) {
  Binder(sizes.lookup()).function(function);
}

void bind_type(Type& type, const IndexExpr::Lookup& known) { Binder(known).type(type); }

void bind_attributes(Instruction& instruction, const IndexExpr::Lookup& known) {
  Binder(known).instruction(instruction);
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
