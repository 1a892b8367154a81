// What happens inside an instruction for one element of what it writes.
//
// A launch: the ops of its kernel in order, the part of each operand that the element needs, and
// the numbers. A collective: whose elements come in, in which order they are combined, and the
// phases of the meeting. Plain values that terminals and windows show alike; numbers are texts, as
// a person reads them, beside what they are of. Where numbers cannot be told (an operand was
// overwritten since), they are empty and `notes` say why: nothing is invented.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hostir/ir/tensor.h"
#include "interp/core/ids.h"

namespace hostir::interp {

struct Snapshot;

inline constexpr CodeIndex kAtRank = 0xffffffffu;

struct InsideQuery {
  Rank rank = 0;
  CodeIndex code = kAtRank;      // an instruction; kAtRank: the one where the rank stands
  std::string value;             // that it writes, without '%'; empty: the first
  std::vector<int64_t> element;  // global index; empty: the first that the rank holds
  friend bool operator==(const InsideQuery&, const InsideQuery&) = default;
};

/// What is read: an element, or a part of a tensor.
struct InsideOperand {
  std::string value;  // without '%'; of the host function where `of_host`, else of the kernel
  bool of_host = false;
  Rank rank = kNoRank;
  std::vector<int64_t> element;  // the element, or the first of the part
  std::string place;             // `[2, 17]`, `[2, 0:64]`
  int64_t count = 1;             // elements of the part
  std::string number;            // `0.25`, or `-3 .. 4.5` of a part; empty: cannot be told
  bool not_finite = false;       // NaN or Inf in it
};

/// One term of a sum, product, minimum or maximum.
struct InsideTerm {
  int64_t number = 0;  // k
  std::vector<InsideOperand> operands;
  std::string text;  // the term: of products of elements the product
};
/// Terms number first to last - 1 added up in f64, in order.
struct InsideBlock {
  int64_t first = 0;
  int64_t last = 0;
  std::string sum;
};
struct InsideTerms {
  int64_t count = 0;
  bool products = false;                 // of elements of two operands
  std::vector<InsideTerm> largest;       // by magnitude, at most 5
  std::vector<InsideBlock> blocks;       // of sums, at most 8
  std::optional<InsideTerm> not_finite;  // the first that is NaN or Inf
};

struct InsideStep {
  std::string op;      // mnemonic
  std::string text;    // the kernel's instruction
  InsideOperand made;  // what the element needs of the result
  std::vector<InsideOperand> reads;
  std::optional<InsideTerms> terms;
};

/// An element that comes in, in the order in which it is combined.
struct InsideAddend {
  InsideOperand source;
  std::string running;   // after it; empty where nothing is combined
  std::string rounding;  // what rounding added to the exact sum so far; empty: exact, or no sum
};

struct InsideMember {
  Rank rank = kNoRank;
  std::string state;  // "not arrived", "queued", "arrived", "running", "done"
  std::string text;   // a sentence: where it is, behind what it is queued
  int64_t in_bytes = 0;
  int64_t out_bytes = 0;
};

struct InsideFact {
  std::string name;
  std::string text;
};

struct Inside {
  enum class Kind : uint8_t { kNothing, kLaunch, kCollective } kind = Kind::kNothing;
  Rank rank = 0;
  CodeIndex code = 0;
  std::string address;              // `@f#9`
  std::string text;                 // the host instruction
  std::string value;                // that is asked for, without '%'
  std::vector<std::string> values;  // all that the instruction writes
  std::vector<int64_t> element;
  std::string moment;              // one sentence: whether these numbers are of the past or to come
  std::string number;              // of the element, by the steps below; empty: cannot be told
  std::string held;                // what the buffer holds after it ran; empty: it has not
  Tensor result;                   // `number` as it is: one element, or none
  bool ran_whole = true;           // its bits are those that the instruction leaves
  bool provisional = false;        // what it reads may still change before it runs
  std::vector<std::string> notes;  // sentences
  std::vector<InsideStep> steps;   // kLaunch
  std::vector<InsideAddend> addends;  // kCollective
  std::string how;                    // kCollective: "sum in group order", "moved"
  std::vector<InsideMember> members;
  std::vector<InsideFact> facts;  // time and bytes
};

/// As the terminal prints it; ends with a newline.
std::string inside_text(const Inside& inside);

}  // namespace hostir::interp
