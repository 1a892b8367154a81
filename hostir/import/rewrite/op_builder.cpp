#include "hostir/import/rewrite/op_builder.h"

namespace hostir::importer {

ValueNumber OpBuilder::op(std::string_view name, std::vector<ValueNumber> operands,
                          std::optional<ModuleType> type, std::vector<NamedAttr> attributes) {
  ModuleOp made;
  made.name = name;
  made.span = span_;
  if (!type) type = f_.type(operands.front());
  made.operands = std::move(operands);
  made.attributes = std::move(attributes);
  f_.values.push_back({name_, std::move(*type), span_, 0});
  const auto value = static_cast<ValueNumber>(f_.values.size() - 1);
  made.results = {value};
  out_.push_back(std::move(made));
  return value;
}

ValueNumber OpBuilder::convert(ValueNumber value, const std::string& element) {
  ModuleType type = f_.type(value);
  if (type.element == element) return value;
  type.element = element;
  return op("stablehlo.convert", {value}, std::move(type));
}

ValueNumber OpBuilder::constant(const Literal& literal) {
  Attr attr;
  attr.kind = Attr::Kind::kLiteral;
  attr.literal = literal;
  return op("stablehlo.constant", {}, literal.type, {{"value", std::move(attr)}});
}

ValueNumber OpBuilder::all_equal(double number, const ModuleType& type) {
  Literal literal;
  literal.type = type;
  literal.splat = true;
  if (const auto dtype = type.dtype()) {
    literal.data = Tensor::zeros(*dtype, {});
    literal.data->set_double(0, number);
  }
  return constant(literal);
}

}  // namespace hostir::importer
