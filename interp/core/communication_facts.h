// What each communication op moves, as facts that the interpreter and the backends share.
#pragma once

#include "interp/core/backend.h"
#include "interp/core/byte_ranges.h"

namespace hostir::interp {

/// What each rank contributes to and receives from a communication op; `communication_<mnemonic>`
/// in host_ops/<mnemonic>.cpp.
struct CommunicationFacts {
  enum class Part : uint8_t {
    kNone,    // no such operand
    kWhole,   // the same extent on every member
    kBlock,   // this member's block of the whole, blocks in group order
    kBlocks,  // one block per member (all_to_all)
    kFree,    // each member's own extent; its pairs say to whom (permute)
  };
  Part in = Part::kNone;
  Part out = Part::kNone;
  enum class RootHas : uint8_t { kNothing, kInput, kOutput } root = RootHas::kNothing;
  bool point_to_point = false;
};

const CommunicationFacts* communication_facts(OpKind kind);  // nullptr for other ops

/// The bytes that a communication sends from this rank. In-place all_gather: its own block;
/// broadcast: nothing except at the root; all_to_all: as many as the counts say.
ByteRange sent_bytes(const CommunicationItem& item, const CommunicationFacts& facts);
/// The bytes that a communication overwrites on this rank; the others keep what they hold. Rooted
/// reduce and gather: nothing except at the root; all_to_all: as many as the counts say.
ByteRange received_bytes(const CommunicationItem& item, const CommunicationFacts& facts);

}  // namespace hostir::interp
