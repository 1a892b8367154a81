#include "hostir/io/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "hostir/support/lists.h"

namespace hostir::io {

namespace {

/// Names of rejected opcodes for messages, including those that never occur in plain data.
const std::map<uint8_t, std::string_view>& refused_opcodes() {
  static const std::map<uint8_t, std::string_view> names = {
      {'c', "GLOBAL"},
      {0x93, "STACK_GLOBAL"},
      {'R', "REDUCE"},
      {'b', "BUILD"},
      {'i', "INST"},
      {'o', "OBJ"},
      {0x81, "NEWOBJ"},
      {0x92, "NEWOBJ_EX"},
      {'P', "PERSID"},
      {'Q', "BINPERSID"},
      {0x82, "EXT1"},
      {0x83, "EXT2"},
      {0x84, "EXT4"},
      {0x97, "NEXT_BUFFER"},
      {0x98, "READONLY_BUFFER"},
      {0x8b, "LONG4"},
      {'I', "INT"},
      {'L', "LONG"},
      {'F', "FLOAT"},
      {'S', "STRING"},
      {'T', "BINSTRING"},
      {'U', "SHORT_BINSTRING"},
      {'V', "UNICODE"},
      {'B', "BINBYTES"},
      {'C', "SHORT_BINBYTES"},
      {0x8e, "BINBYTES8"},
      {0x96, "BYTEARRAY8"},
      {0x8f, "EMPTY_SET"},
      {0x90, "ADDITEMS"},
      {0x91, "FROZENSET"},
      {'d', "DICT"},
      {'l', "LIST"},
      {'p', "PUT"},
      {'g', "GET"},
      {'0', "POP"},
      {'1', "POP_MARK"},
      {'2', "DUP"},
  };
  return names;
}

// The names that torch.save() writes for tensors, besides storages and dtypes. None of them is ever
// called here.
constexpr std::string_view kOrderedDict = "collections.OrderedDict";
constexpr std::string_view kTensorNames[] = {
    kOrderedDict,
    "torch._utils._rebuild_tensor_v2",
    "torch._utils._rebuild_tensor_v3",
    "torch._utils._rebuild_parameter",
    "torch.storage.UntypedStorage",
    "torch.Size",
};

bool names_part_of_tensor(std::string_view name) {
  if (contains(kTensorNames, name)) return true;
  if (!name.starts_with("torch.")) return false;
  const std::string_view rest = name.substr(6);
  if (rest.find('.') != std::string_view::npos) return false;
  return rest.ends_with("Storage") || rest.starts_with("float") || rest.starts_with("bfloat") ||
         rest.starts_with("int") || rest.starts_with("uint") || rest == "bool";
}

constexpr uint32_t kMarkOnStack = 0xffffffffu;
constexpr uint32_t kNotInMemo = 0xffffffffu;
constexpr size_t kMostReserved = size_t{1} << 20;  // nodes

class PickleReader {
 public:
  PickleReader(std::string_view bytes, PickleContent content) : bytes_(bytes), content_(content) {
    // A value takes some five bytes in dumps; more than the limit is never needed.
    tree_.nodes.reserve(std::min(bytes.size() / 5 + 1, kMostReserved));
  }

  Expected<PlainTree> read() {
    while (!stopped_) {
      if (at_ >= bytes_.size()) return ends_early();
      if (tree_.nodes.size() > kMaxNodes) {
        return damaged(fmt::format("more than {} values", kMaxNodes));
      }
      begin_ = at_;
      HOSTIR_TRY(step(static_cast<uint8_t>(bytes_[at_++])));
    }
    if (at_ != bytes_.size()) return damaged("bytes follow its STOP");
    HOSTIR_TRY(check_tree(tree_));
    return std::move(tree_);
  }

 private:
  tl::unexpected<Error> ends_early() const {
    return fail(ErrorKind::kInvalid, "pickle_format",
                fmt::format("the file ends too early (byte {})", bytes_.size()));
  }
  tl::unexpected<Error> damaged(const std::string& what) const {
    return fail(ErrorKind::kInvalid, "pickle_format", fmt::format("byte {}: {}", begin_, what));
  }

  Expected<void> step(uint8_t opcode) {
    if (content_ == PickleContent::kTensors) {
      if (opcode == 'c') return global();
      if (opcode == 'R') return call();
      if (opcode == 'Q') return persistent();
      if (opcode == 'b') return drop_state();
    }
    switch (opcode) {
      case 0x80:
        return protocol();
      case 0x95:
        return frame();
      case '}':
        return push_new(PlainKind::kDict, false);
      case ']':
        return push_new(PlainKind::kList, false);
      case ')':
        return push_new(PlainKind::kList, true);
      case '(':
        stack_.push_back(kMarkOnStack);
        return {};
      case 'u':
        return set_items();
      case 'e':
        return append_items();
      case 't':
        return tuple_to_mark();
      case 's':
        return set_item();
      case 'a':
        return append_item();
      case 0x85:
        return tuple_of(1);
      case 0x86:
        return tuple_of(2);
      case 0x87:
        return tuple_of(3);
      case 'X':
        return text(4);
      case 0x8c:
        return text(1);
      case 0x8d:
        return text(8);
      case 'K':
        return integer(1, false);
      case 'M':
        return integer(2, false);
      case 'J':
        return integer(4, true);
      case 0x8a:
        return long_integer();
      case 'G':
        return real();
      case 'N':
        return push({.kind = PlainKind::kNone});
      case 0x88:
        return push({.kind = PlainKind::kBool, .number = 1});
      case 0x89:
        return push({.kind = PlainKind::kBool, .number = 0});
      case 'q':
        return put(1);
      case 'r':
        return put(4);
      case 0x94:
        return memoize(memo_used_);
      case 'h':
        return get(1);
      case 'j':
        return get(4);
      case '.':
        return stop();
      default:
        return refuse(opcode);
    }
  }

  Expected<void> refuse(uint8_t opcode) const {
    const auto known = refused_opcodes().find(opcode);
    return fail(
        ErrorKind::kInvalid, "pickle_opcode",
        fmt::format("byte {}: opcode {} (0x{:02x}) is not plain data; Flight Recorder dumps and "
                    "tensor files do not contain it, so the file is rejected",
                    begin_, known == refused_opcodes().end() ? "unknown" : known->second, opcode));
  }

  Expected<std::string_view> take(uint64_t count) {
    if (count > bytes_.size() - at_) {
      return ends_early();
    }
    const std::string_view part = bytes_.substr(at_, static_cast<size_t>(count));
    at_ += static_cast<size_t>(count);
    return part;
  }
  Expected<uint64_t> little_endian(size_t count) {
    HOSTIR_ASSIGN_OR_RETURN(const std::string_view part, take(count));
    uint64_t number = 0;
    for (size_t i = count; i-- > 0;) number = number << 8 | static_cast<uint8_t>(part[i]);
    return number;
  }

  Expected<void> push(PlainNode node) {
    stack_.push_back(tree_.add(std::move(node)));
    return {};
  }
  Expected<void> push_new(PlainKind kind, bool tuple) {
    return push({.kind = kind, .tuple = tuple});
  }

  Expected<void> protocol() {
    HOSTIR_ASSIGN_OR_RETURN(const uint64_t version, little_endian(1));
    if (version < 2 || version > 5) {
      return damaged(fmt::format("protocol {} is not supported; 2 to 5 are", version));
    }
    return {};
  }
  // A frame's contents are read as they come; only its length is checked.
  Expected<void> frame() {
    HOSTIR_ASSIGN_OR_RETURN(const uint64_t length, little_endian(8));
    if (length > bytes_.size() - at_) {
      return ends_early();
    }
    return {};
  }
  Expected<void> text(size_t length_bytes) {
    HOSTIR_ASSIGN_OR_RETURN(const uint64_t length, little_endian(length_bytes));
    if (length > kMaxTextBytes) {
      return damaged(fmt::format("a string of {} bytes; the limit is {}", length, kMaxTextBytes));
    }
    HOSTIR_ASSIGN_OR_RETURN(const std::string_view bytes, take(length));
    return push({.kind = PlainKind::kText, .text = std::string(bytes)});
  }
  Expected<void> integer(size_t size, bool with_sign) {
    HOSTIR_ASSIGN_OR_RETURN(const uint64_t raw, little_endian(size));
    const int64_t number =
        with_sign ? static_cast<int32_t>(static_cast<uint32_t>(raw)) : static_cast<int64_t>(raw);
    return push({.kind = PlainKind::kInt, .number = number});
  }
  Expected<void> long_integer() {
    HOSTIR_ASSIGN_OR_RETURN(const uint64_t size, little_endian(1));
    HOSTIR_ASSIGN_OR_RETURN(const std::string_view part, take(size));
    const bool negative = size > 0 && (static_cast<uint8_t>(part[size - 1]) & 0x80) != 0;
    uint64_t low = negative ? ~uint64_t{0} : 0;
    for (size_t i = std::min<size_t>(part.size(), 8); i-- > 0;) {
      low = low << 8 | static_cast<uint8_t>(part[i]);
    }
    bool fits = true;
    for (size_t i = 8; i < part.size(); ++i) {
      fits = fits && static_cast<uint8_t>(part[i]) == (negative ? 0xff : 0x00);
    }
    const auto number = static_cast<int64_t>(low);
    if (fits && (number < 0) == negative) return push({.kind = PlainKind::kInt, .number = number});
    // Unsigned 64-bit hashes need nine bytes. They are only compared, never computed with.
    if (!negative && part.size() == 9 && part[8] == 0) {
      return push({.kind = PlainKind::kText, .text = fmt::format("{}", low)});
    }
    return damaged(fmt::format("a whole number of {} bytes", size));
  }
  Expected<void> real() {
    HOSTIR_ASSIGN_OR_RETURN(const std::string_view part, take(8));
    uint64_t bits = 0;
    for (const char byte : part) bits = bits << 8 | static_cast<uint8_t>(byte);
    return push({.kind = PlainKind::kReal, .real = std::bit_cast<double>(bits)});
  }

  /// Pops the topmost mark and the values above it.
  Expected<std::vector<uint32_t>> to_mark() {
    size_t mark = stack_.size();
    while (mark > 0 && stack_[mark - 1] != kMarkOnStack) --mark;
    if (mark == 0) return damaged("no mark on the stack");
    std::vector<uint32_t> values(stack_.begin() + static_cast<ptrdiff_t>(mark), stack_.end());
    stack_.resize(mark - 1);
    return values;
  }
  Expected<uint32_t> top_of(PlainKind kind, std::string_view what) const {
    if (stack_.empty() || stack_.back() == kMarkOnStack ||
        tree_.nodes[stack_.back()].kind != kind || tree_.nodes[stack_.back()].tuple) {
      return damaged(fmt::format("no {} on top of the stack", what));
    }
    return stack_.back();
  }
  Expected<uint32_t> pop() {
    if (stack_.empty() || stack_.back() == kMarkOnStack) return damaged("the stack is empty");
    const uint32_t value = stack_.back();
    stack_.pop_back();
    return value;
  }

  Expected<void> set_items() {
    HOSTIR_ASSIGN_OR_RETURN(const std::vector<uint32_t> values, to_mark());
    if (values.size() % 2 != 0) return damaged("a key without a value");
    HOSTIR_ASSIGN_OR_RETURN(const uint32_t dict, top_of(PlainKind::kDict, "dictionary"));
    auto& items = tree_.nodes[dict].items;
    items.insert(items.end(), values.begin(), values.end());
    return {};
  }
  Expected<void> append_items() {
    HOSTIR_ASSIGN_OR_RETURN(const std::vector<uint32_t> values, to_mark());
    HOSTIR_ASSIGN_OR_RETURN(const uint32_t list, top_of(PlainKind::kList, "list"));
    auto& items = tree_.nodes[list].items;
    items.insert(items.end(), values.begin(), values.end());
    return {};
  }
  Expected<void> set_item() {
    HOSTIR_ASSIGN_OR_RETURN(const uint32_t value, pop());
    HOSTIR_ASSIGN_OR_RETURN(const uint32_t key, pop());
    HOSTIR_ASSIGN_OR_RETURN(const uint32_t dict, top_of(PlainKind::kDict, "dictionary"));
    tree_.nodes[dict].items.push_back(key);
    tree_.nodes[dict].items.push_back(value);
    return {};
  }
  Expected<void> append_item() {
    HOSTIR_ASSIGN_OR_RETURN(const uint32_t value, pop());
    HOSTIR_ASSIGN_OR_RETURN(const uint32_t list, top_of(PlainKind::kList, "list"));
    tree_.nodes[list].items.push_back(value);
    return {};
  }
  Expected<void> tuple_to_mark() {
    HOSTIR_ASSIGN_OR_RETURN(std::vector<uint32_t> values, to_mark());
    return push({.kind = PlainKind::kList, .tuple = true, .items = std::move(values)});
  }
  Expected<void> tuple_of(size_t count) {
    std::vector<uint32_t> values(count);
    for (size_t i = count; i-- > 0;) {
      HOSTIR_ASSIGN_OR_RETURN(values[i], pop());
    }
    return push({.kind = PlainKind::kList, .tuple = true, .items = std::move(values)});
  }

  Expected<void> memoize(uint64_t index) {
    if (stack_.empty() || stack_.back() == kMarkOnStack) return damaged("nothing to remember");
    // Writers count up; a larger index than there are bytes comes only from a damaged file.
    if (index >= bytes_.size()) return damaged(fmt::format("memo entry {}", index));
    if (index >= memo_.size()) memo_.resize(index + 1, kNotInMemo);
    if (memo_[index] == kNotInMemo) ++memo_used_;
    memo_[index] = stack_.back();
    return {};
  }
  Expected<void> put(size_t size) {
    HOSTIR_ASSIGN_OR_RETURN(const uint64_t index, little_endian(size));
    return memoize(index);
  }
  Expected<void> get(size_t size) {
    HOSTIR_ASSIGN_OR_RETURN(const uint64_t index, little_endian(size));
    if (index >= memo_.size() || memo_[index] == kNotInMemo)
      return damaged(fmt::format("the memo has no entry {}", index));
    stack_.push_back(memo_[index]);
    return {};
  }
  Expected<std::string_view> line() {
    const size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) return damaged("a name without an end");
    const std::string_view text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }
  Expected<void> global() {
    HOSTIR_ASSIGN_OR_RETURN(const std::string_view module, line());
    HOSTIR_ASSIGN_OR_RETURN(const std::string_view name, line());
    std::string full = fmt::format("{}.{}", module, name);
    if (!names_part_of_tensor(full)) {
      return fail(ErrorKind::kInvalid, "pickle_opcode",
                  fmt::format("byte {}: the file names {:.100}, which is not needed to rebuild a "
                              "tensor; the file is rejected",
                              begin_, full));
    }
    return push({.kind = PlainKind::kText, .text = std::move(full)});
  }
  Expected<void> call() {
    HOSTIR_ASSIGN_OR_RETURN(const uint32_t arguments, pop());
    HOSTIR_ASSIGN_OR_RETURN(const uint32_t name, pop());
    if (tree_.nodes[name].text == kOrderedDict) {
      if (!tree_.nodes[arguments].items.empty()) return damaged("an OrderedDict with arguments");
      return push_new(PlainKind::kDict, false);
    }
    return push({.kind = PlainKind::kList, .tuple = true, .items = {name, arguments}});
  }
  Expected<void> persistent() {
    HOSTIR_ASSIGN_OR_RETURN(const uint32_t identity, pop());
    stack_.push_back(identity);
    return {};
  }
  Expected<void> drop_state() {
    HOSTIR_ASSIGN_OR_RETURN([[maybe_unused]] const uint32_t state, pop());
    if (stack_.empty() || stack_.back() == kMarkOnStack) return damaged("no object for a state");
    return {};
  }
  Expected<void> stop() {
    if (stack_.size() != 1 || stack_.back() == kMarkOnStack) {
      return damaged(fmt::format("{} values on the stack at STOP instead of one", stack_.size()));
    }
    tree_.root = stack_.back();
    stopped_ = true;
    return {};
  }

  std::string_view bytes_;
  PickleContent content_;
  size_t at_ = 0;
  size_t begin_ = 0;  // position of the current opcode
  bool stopped_ = false;
  PlainTree tree_;
  std::vector<uint32_t> stack_;
  std::vector<uint32_t> memo_;  // kNotInMemo: no entry
  size_t memo_used_ = 0;
};

}  // namespace

bool looks_like_pickle(std::string_view bytes) {
  return bytes.size() >= 2 && static_cast<uint8_t>(bytes[0]) == 0x80 && bytes[1] >= 2 &&
         bytes[1] <= 5;
}

Expected<PlainTree> read_pickle(std::string_view bytes, PickleContent content) {
  return PickleReader(bytes, content).read();
}

}  // namespace hostir::io
