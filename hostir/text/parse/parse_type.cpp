#include "hostir/text/parse/parse_type.h"

#include <charconv>

#include "hostir/text/parse/parse_expr.h"

namespace hostir::text {

namespace {

// `tp` or `tp:(1)2`. An axis name may be a keyword elsewhere, so any word is accepted.
std::optional<AxisRef> parse_axis(Cursor& cursor) {
  const Token* name = cursor.expect(TokenKind::kWord, "a mesh axis");
  if (!name) return std::nullopt;
  AxisRef axis;
  axis.name = std::string(name->text);
  if (!cursor.accept(":")) return axis;
  if (!cursor.expect("(")) return std::nullopt;
  const auto pre = parse_int(cursor);
  if (!pre || !cursor.expect(")")) return std::nullopt;
  const uint32_t begin = cursor.begin_here();
  const auto size = parse_int(cursor);
  if (!size) return std::nullopt;
  axis.pre = *pre;
  axis.size = *size;
  if (*size < 2 || *pre < 1) {
    cursor.error("sharding_c4",
                 "sub-axis of size " + std::to_string(*size) + " after " + std::to_string(*pre) +
                     ", sizes begin at 2 and 1",
                 cursor.span_from(begin));
    return AxisRef{axis.name};  // continue parsing
  }
  return axis;
}

std::optional<Reduction> parse_unreduced_kind(Cursor& cursor) {
  if (cursor.at("{")) return Reduction::kSum;
  if (cursor.at(TokenKind::kWord)) {
    if (const auto kind = parse_reduction(cursor.peek().text)) {
      cursor.next();
      return kind;
    }
  }
  cursor.unexpected("a reduction or \"{\"");
  return std::nullopt;
}

// The `p1` after a dimension.
bool parse_priority(Cursor& cursor, DimSharding& dim) {
  if (!cursor.at(TokenKind::kWord)) return true;
  const std::string_view text = cursor.peek().text;
  const auto [end, error] =
      std::from_chars(text.data() + 1, text.data() + text.size(), dim.priority);
  if (text.front() != 'p' || error != std::errc() || end != text.data() + text.size()) {
    cursor.unexpected("a priority, as in \"p1\"");
    return false;
  }
  cursor.next();
  return true;
}

// A position times a block must fit in 64 bits.
bool is_block_number(Cursor& cursor, int64_t number, uint32_t begin) {
  constexpr int64_t kMost = int64_t{1} << 40;
  if (number >= -kMost && number <= kMost) return true;
  cursor.error("sharding_c12",
               std::to_string(number) + " is beyond 2^40, the largest block and origin",
               cursor.span_from(begin));
  return false;
}

// The `of 16` after a dimension.
bool parse_unit(Cursor& cursor, DimSharding& dim) {
  const uint32_t begin = cursor.begin_here();
  const auto unit = parse_int(cursor, "the number of elements that stay together");
  if (!unit) return false;
  if (*unit < 1 || dim.axes.empty()) {
    cursor.error("sharding_c12",
                 *unit < 1 ? "runs of " + std::to_string(*unit) +
                                 " elements hold nothing; write how many elements stay together"
                           : "only a dimension with axes is cut between runs of elements",
                 cursor.span_from(begin));
    return false;
  }
  dim.unit = *unit;
  return is_block_number(cursor, *unit, begin);
}

// The `turned 1` after a dimension.
bool parse_turn(Cursor& cursor, DimSharding& dim) {
  const uint32_t begin = cursor.begin_here();
  const auto turn = parse_int(cursor, "by how many positions the parts are turned");
  if (!turn) return false;
  if (*turn < 1 || dim.axes.empty() || dim.open) {
    cursor.error("sharding_c12",
                 *turn < 1
                     ? "parts turned by " + std::to_string(*turn) + " positions; write 1 or more"
                     : "only the parts of a closed dimension with axes are turned",
                 cursor.span_from(begin));
    return false;
  }
  dim.turn = *turn;
  return is_block_number(cursor, *turn, begin);
}

// The `by 8 from -3`, `of 16` or `turned 1` after a dimension.
bool parse_blocks(Cursor& cursor, DimSharding& dim) {
  if (cursor.accept("of")) return parse_unit(cursor, dim);
  if (cursor.accept("turned")) return parse_turn(cursor, dim);
  if (!cursor.accept("by")) return true;
  const uint32_t begin = cursor.begin_here();
  const auto block = parse_int(cursor, "the size of a block");
  if (!block) return false;
  if (*block == 0 || dim.axes.empty() || dim.open) {
    cursor.error("sharding_c12",
                 *block == 0 ? "blocks of 0 elements hold nothing; write the size of a block"
                             : "only a closed dimension with axes is cut into blocks",
                 cursor.span_from(begin));
    return false;
  }
  dim.block = *block;
  if (!cursor.accept("from")) return is_block_number(cursor, *block, begin);
  const auto origin = parse_int(cursor, "where the first block begins");
  if (!origin) return false;
  dim.origin = *origin;
  return is_block_number(cursor, *block, begin) && is_block_number(cursor, *origin, begin);
}

std::optional<Type> parse_shard(Cursor& cursor, const SourceManager& sources) {
  ShardType type;
  auto shape = parse_shape(cursor, sources);
  if (!shape || !cursor.expect(",")) return std::nullopt;
  type.shape = std::move(shape->shape);
  type.dtype = shape->dtype;
  const uint32_t begin = cursor.begin_here();
  auto mesh = cursor.expect_symbol("a mesh");
  if (!mesh || !cursor.expect(",")) return std::nullopt;
  auto sharding = parse_dims(cursor, std::move(*mesh));
  if (!sharding) return std::nullopt;
  type.sharding = std::move(*sharding);
  type.sharding->span = cursor.span_from(begin);
  if (cursor.at(",") && cursor.peek(1).is("blocks")) {
    cursor.next();
    cursor.next();
    if (!cursor.expect("=")) return std::nullopt;
    auto blocks = parse_layout(cursor, type.sharding->mesh);
    if (!blocks) return std::nullopt;
    type.blocks = std::move(*blocks);
  }
  if (!cursor.expect(">")) return std::nullopt;
  return type;
}

std::optional<Type> parse_tensor(Cursor& cursor, const SourceManager& sources) {
  TensorType type;
  auto shape = parse_shape(cursor, sources);
  if (!shape || !cursor.expect(">")) return std::nullopt;
  type.shape = std::move(shape->shape);
  type.dtype = shape->dtype;
  if (cursor.at("<")) {
    auto sharding = parse_sharding(cursor);
    if (!sharding) return std::nullopt;
    type.sharding = std::move(*sharding);
  }
  return type;
}

}  // namespace

std::optional<DimSharding> parse_axes(Cursor& cursor) {
  DimSharding dim;
  if (!cursor.expect("{")) return std::nullopt;
  while (!cursor.at("}")) {
    if (cursor.accept("?")) {
      dim.open = true;
      break;
    }
    auto axis = parse_axis(cursor);
    if (!axis) return std::nullopt;
    dim.axes.push_back(std::move(*axis));
    if (!cursor.accept(",")) break;
  }
  if (!cursor.expect("}")) return std::nullopt;
  return dim;
}

std::optional<Sharding> parse_dims(Cursor& cursor, std::string mesh) {
  Sharding sharding;
  sharding.mesh = std::move(mesh);
  const uint32_t begin = cursor.begin_here();
  if (!cursor.expect("[")) return std::nullopt;
  while (!cursor.at("]")) {
    auto dim = parse_axes(cursor);
    if (!dim || !parse_blocks(cursor, *dim) || !parse_priority(cursor, *dim)) return std::nullopt;
    sharding.dims.push_back(std::move(*dim));
    if (!cursor.accept(",")) break;
  }
  if (!cursor.expect("]")) return std::nullopt;
  if (cursor.at(",") && cursor.peek(1).is("replicated")) {
    cursor.next();
    cursor.next();
    if (!cursor.expect("=")) return std::nullopt;
    auto axes = parse_axes(cursor);
    if (!axes) return std::nullopt;
    sharding.pinned = std::move(axes->axes);
  }
  if (cursor.at(",") && cursor.peek(1).is("unreduced")) {
    cursor.next();
    cursor.next();
    if (!cursor.expect("=")) return std::nullopt;
    const auto kind = parse_unreduced_kind(cursor);
    if (!kind) return std::nullopt;
    auto axes = parse_axes(cursor);
    if (!axes) return std::nullopt;
    sharding.unreduced = std::move(axes->axes);
    if (!sharding.unreduced.empty()) sharding.unreduced_kind = *kind;
  }
  sharding.span = cursor.span_from(begin);
  return sharding;
}

std::optional<Sharding> parse_sharding(Cursor& cursor) {
  const uint32_t begin = cursor.begin_here();
  if (!cursor.expect("<")) return std::nullopt;
  auto mesh = cursor.expect_symbol("a mesh");
  if (!mesh || !cursor.expect(",")) return std::nullopt;
  auto sharding = parse_dims(cursor, std::move(*mesh));
  if (!sharding || !cursor.expect(">")) return std::nullopt;
  sharding->span = cursor.span_from(begin);
  return sharding;
}

std::optional<Sharding> parse_layout(Cursor& cursor, const std::string& mesh) {
  return cursor.at("<") ? parse_sharding(cursor) : parse_dims(cursor, mesh);
}

std::optional<Type> parse_type(Cursor& cursor, const SourceManager& sources) {
  // Types without parameters. The verifier checks where they may be used.
  if (cursor.accept("event")) return EventType{};
  if (cursor.accept("stream")) return StreamType{};
  if (cursor.accept("comm")) return CommType{};
  if (cursor.accept("index")) return IndexType{};
  const bool tensor = cursor.at("tensor");
  if (!tensor && !cursor.at("shard")) {
    cursor.unexpected(
        "a type: tensor<4x8xf32>, shard<4x8xf32, @m, [{x}, {}]>, event, stream, comm "
        "or index");
    return std::nullopt;
  }
  cursor.next();
  if (!cursor.expect("<")) return std::nullopt;
  return tensor ? parse_tensor(cursor, sources) : parse_shard(cursor, sources);
}

}  // namespace hostir::text
