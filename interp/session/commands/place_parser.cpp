#include "interp/session/commands/place_parser.h"

#include <utility>

#include "interp/session/commands/places.h"

namespace hostir::interp {
namespace {

class PlaceParser {
 public:
  explicit PlaceParser(Scanner& in) : in_(in) {}

  Expected<Place> place() {
    switch (in_.peek()) {
      case '@':
        return function_place();
      case '#':
        return address_number(Place{Place::Kind::kAddress, "", 0});
      case '%': {
        HOSTIR_ASSIGN_OR_RETURN(std::string name, read_value_name(in_));
        return Place{Place::Kind::kValue, std::move(name), 0};
      }
      case '"': {
        auto label = in_.quoted();
        if (!label) return in_.error("label without its closing quote");
        return Place{Place::Kind::kLabel, std::move(*label), 0};
      }
      default:
        if (auto place = file_line()) return *place;
        return word_place();
    }
  }

 private:
  // `dir/mlp.hir:12`; nullopt if the next word does not have that form.
  std::optional<Place> file_line() {
    in_.peek();  // skips blanks
    const std::string_view rest = in_.line().substr(in_.position());
    // `dprintf mlp.hir:12, "text"` continues with a comma.
    std::string_view word = rest.substr(0, rest.find_first_of(" \t\""));
    if (word.ends_with(',')) word.remove_suffix(1);
    const size_t colon = word.rfind(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == word.size()) return {};
    int64_t line = 0;
    for (const char c : word.substr(colon + 1)) {
      if (c < '0' || c > '9' || line > 100'000'000) return {};
      line = line * 10 + (c - '0');
    }
    in_.rewind(in_.position() + word.size());
    return Place{Place::Kind::kLine, std::string(word.substr(0, colon)), line};
  }

  Expected<Place> function_place() {
    in_.take("@");
    Place p{Place::Kind::kFunction, std::string(in_.dotted_word()), 0};
    if (p.name.empty()) return in_.error("expected a function's name after '@'");
    const size_t at = in_.position();
    if (at < in_.line().size() && in_.line()[at] == '#') {
      p.kind = Place::Kind::kAddress;
      return address_number(std::move(p));
    }
    return p;
  }

  Expected<Place> address_number(Place p) {
    in_.take("#");
    const auto n = in_.integer();
    if (!n || *n < 1) return in_.error("expected an instruction's number after '#', from 1");
    p.number = *n;
    return p;
  }

  Expected<Place> word_place() {
    const size_t begin = in_.position();
    if (const auto line = in_.integer()) return Place{Place::Kind::kLine, "", *line};
    const std::string word(in_.word());
    if (word.empty()) return in_.error("expected a place: @f#9, #9, %y, all_reduce#1, line 12");
    if (word == "line") {
      const auto n = in_.integer();
      if (!n || *n < 1) return in_.error("expected a line's number");
      return Place{Place::Kind::kLine, "", *n};
    }
    if (word == "collective") return Place{Place::Kind::kCollective, "", 0};
    if (word == "fault") return Place{Place::Kind::kFault, "", 0};
    if (word == "end") return Place{Place::Kind::kEnd, "", 0};
    if (word == "rendezvous") return with_optional_value(Place::Kind::kRendezvous);
    if (word == "nan") return with_optional_value(Place::Kind::kNan);
    if (word == "write") {
      HOSTIR_ASSIGN_OR_RETURN(std::string name, read_value_name(in_));
      return Place{Place::Kind::kWrite, std::move(name), 0};
    }
    Place p{Place::Kind::kOp, word, 0};
    if (in_.peek() != '#') return p;
    in_.take("#");
    const auto n = in_.integer();
    if (!n || *n < 1) return in_.error("expected an ordinal after '#', from 1", begin);
    p.number = *n;
    return p;
  }

  Expected<Place> with_optional_value(Place::Kind kind) {
    Place p{kind, "", 0};
    if (in_.peek() == '%') {
      HOSTIR_ASSIGN_OR_RETURN(p.name, read_value_name(in_));
    }
    return p;
  }

  Scanner& in_;
};

}  // namespace

Expected<std::string> read_value_name(Scanner& in) {
  if (!in.take("%")) return in.error("expected a value, as %y");
  const std::string_view name = in.value_word();
  if (name.empty()) return in.error("expected a name after '%'");
  return std::string(name);
}

Expected<Place> read_place(Scanner& in) { return PlaceParser(in).place(); }

Expected<Place> parse_place(std::string_view text) {
  Scanner in(text);
  HOSTIR_ASSIGN_OR_RETURN(Place place, read_place(in));
  if (!in.at_end()) return in.error("unexpected text after the place");
  return place;
}

}  // namespace hostir::interp
