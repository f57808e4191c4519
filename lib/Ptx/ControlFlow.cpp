#include "Ptx/ControlFlow.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace carve;
using namespace llvm;

/// Returns the nodes that can be reached from node 0, each before its successors unless a cycle
/// forbids it. The walk is not recursive, because generated code has long chains of blocks.
static std::vector<unsigned> reversePostOrder(ArrayRef<std::vector<unsigned>> Successors) {
  std::vector<unsigned> Order;
  std::vector<bool> Seen(Successors.size());
  std::vector<std::pair<unsigned, size_t>> Stack = {{0, 0}};
  Seen[0] = true;
  while (!Stack.empty()) {
    auto &[Node, Next] = Stack.back();
    if (Next == Successors[Node].size()) {
      Order.push_back(Node);
      Stack.pop_back();
      continue;
    }
    unsigned Successor = Successors[Node][Next++];
    if (!Seen[Successor]) {
      Seen[Successor] = true;
      Stack.emplace_back(Successor, 0);
    }
  }
  std::reverse(Order.begin(), Order.end());
  return Order;
}

bool ControlFlow::dominates(unsigned Above, unsigned Below) const {
  while (Below != Above && Below != 0)
    Below = ImmediateDominator[Below];
  return Below == Above;
}

bool ControlFlow::contains(unsigned Loop, unsigned Block) const {
  return std::binary_search(Loops[Loop].Blocks.begin(), Loops[Loop].Blocks.end(), Block);
}

/// The algorithm is that of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
static void findDominators(ControlFlow &F, ArrayRef<std::vector<unsigned>> Predecessors) {
  std::vector<unsigned> Place(F.Blocks.size());
  for (auto [I, Block] : enumerate(F.ReversePostOrder))
    Place[Block] = I;
  constexpr unsigned None = ~0u;
  F.ImmediateDominator.assign(F.Blocks.size(), None);
  F.ImmediateDominator[0] = 0;
  bool Changed = true;
  while (Changed) {
    Changed = false;
    for (unsigned Block : drop_begin(F.ReversePostOrder)) {
      unsigned New = None;
      for (unsigned Other : Predecessors[Block]) {
        if (F.ImmediateDominator[Other] == None)
          continue;
        if (New == None) {
          New = Other;
          continue;
        }
        while (Other != New) {
          unsigned &Later = Place[Other] > Place[New] ? Other : New;
          Later = F.ImmediateDominator[Later];
        }
      }
      Changed |= F.ImmediateDominator[Block] != New;
      F.ImmediateDominator[Block] = New;
    }
  }
}

static std::vector<unsigned> blocksOfLoop(const FlowLoop &L,
                                          ArrayRef<std::vector<unsigned>> Predecessors) {
  std::vector<unsigned> Found = {L.Header}, Pending = L.Latches;
  std::vector<bool> Seen(Predecessors.size());
  Seen[L.Header] = true;
  while (!Pending.empty()) {
    unsigned Block = Pending.back();
    Pending.pop_back();
    if (Seen[Block])
      continue;
    Seen[Block] = true;
    Found.push_back(Block);
    append_range(Pending, Predecessors[Block]);
  }
  sort(Found);
  return Found;
}

static void findLoops(ControlFlow &F, ArrayRef<std::vector<unsigned>> Predecessors) {
  std::map<unsigned, std::vector<unsigned>> LatchesOf;
  // A block comes after its dominators in this order, so only edges to blocks already passed need
  // the walk up the dominator tree.
  std::vector<bool> Passed(F.Blocks.size());
  for (unsigned Block : F.ReversePostOrder) {
    Passed[Block] = true;
    for (unsigned Successor : F.Blocks[Block].Successors)
      if (Passed[Successor] && F.dominates(Successor, Block))
        LatchesOf[Successor].push_back(Block);
  }
  for (auto &[Header, Latches] : LatchesOf) {
    FlowLoop L;
    L.Header = Header;
    L.Latches = Latches;
    L.Blocks = blocksOfLoop(L, Predecessors);
    F.Loops.push_back(std::move(L));
  }
  // Natural loops with different headers are either nested or disjoint, so the smaller one is the
  // inner one.
  std::vector<unsigned> BySize(F.Loops.size());
  std::iota(BySize.begin(), BySize.end(), 0);
  stable_sort(BySize, [&](unsigned A, unsigned B) {
    return F.Loops[A].Blocks.size() > F.Loops[B].Blocks.size();
  });
  for (unsigned Loop : BySize) {
    FlowLoop &L = F.Loops[Loop];
    L.Parent = F.LoopOf[L.Header];
    L.Depth = L.Parent ? F.Loops[*L.Parent].Depth + 1 : 1;
    for (unsigned Block : L.Blocks)
      F.LoopOf[Block] = Loop;
  }
}

ControlFlow carve::analyseFlow(std::vector<FlowBlock> Blocks) {
  ControlFlow F;
  F.Blocks = std::move(Blocks);
  F.LoopOf.resize(F.Blocks.size());
  F.Reachable.resize(F.Blocks.size());
  if (F.Blocks.empty())
    return F;
  std::vector<std::vector<unsigned>> Successors, Predecessors(F.Blocks.size());
  for (const FlowBlock &B : F.Blocks)
    Successors.push_back(B.Successors);
  F.ReversePostOrder = reversePostOrder(Successors);
  for (unsigned Block : F.ReversePostOrder) {
    F.Reachable[Block] = true;
    for (unsigned Successor : Successors[Block])
      Predecessors[Successor].push_back(Block);
  }
  findDominators(F, Predecessors);
  findLoops(F, Predecessors);
  return F;
}

namespace {

/// Computes frequencies region by region. A region is a loop's body or the whole function. Each
/// inner loop is a single node in the region around it, so that the region's graph has no cycles.
class FrequencyOfRegions {
public:
  FrequencyOfRegions(const ControlFlow &F, ArrayRef<double> Trips,
                     ArrayRef<std::optional<double>> PerRun)
      : F(F), Trips(Trips), PerRun(PerRun) {}
  std::vector<double> run() {
    std::vector<double> Result(F.Blocks.size());
    if (!F.Blocks.empty())
      addRegion(std::nullopt, 0, 1, Result);
    return Result;
  }

private:
  using Region = std::optional<unsigned>;
  struct Edge {
    unsigned From, To; ///< Numbers of blocks.
  };
  struct Node {
    unsigned Block; ///< The block, or the header of the loop.
    Region Loop;
    std::vector<Edge> Out;
    std::vector<unsigned> Next; ///< The node at the end of each edge of Out.
    BitVector Reached; ///< Loops with known runs that this node reaches, including its own.
  };

  /// Adds \p Mass runs of the region that starts at \p Entry to \p Result.
  void addRegion(Region R, unsigned Entry, double Mass, std::vector<double> &Result);
  std::vector<Node> nodesOf(Region R, unsigned Entry) const;
  unsigned nodeOf(Region R, unsigned Block, std::vector<Node> &Nodes,
                  std::map<unsigned, unsigned> &Known) const;
  /// Removes the edges that close cycles other than natural loops, and finds the loops that each
  /// node reaches.
  void makeAcyclic(std::vector<Node> &Nodes, ArrayRef<unsigned> Order) const;
  std::vector<double> shares(const Node &N, ArrayRef<Node> All, ArrayRef<double> Inner,
                             double Mass) const;
  void demand(const Node &N, ArrayRef<Node> All, double Mass, MutableArrayRef<double> Share) const;
  static bool entersLoop(const Node &N, ArrayRef<Node> All);
  std::optional<double> knownRuns(unsigned Loop) const {
    return PerRun.empty() ? std::nullopt : PerRun[Loop];
  }
  /// Returns how often \p Loop, whose runs are known, is entered in one run of the region around
  /// it.
  double entriesOf(unsigned Loop) const {
    return Trips[Loop] > 0 ? *PerRun[Loop] / Trips[Loop] : 0;
  }

  const ControlFlow &F;
  ArrayRef<double> Trips;
  ArrayRef<std::optional<double>> PerRun;
};

unsigned FrequencyOfRegions::nodeOf(Region R, unsigned Block, std::vector<Node> &Nodes,
                                    std::map<unsigned, unsigned> &Known) const {
  Region Loop = F.LoopOf[Block];
  if (Loop != R)
    while (F.Loops[*Loop].Parent != R)
      Loop = F.Loops[*Loop].Parent;
  else
    Loop.reset();
  unsigned First = Loop ? F.Loops[*Loop].Header : Block;
  auto [It, New] = Known.try_emplace(First, Nodes.size());
  if (New)
    Nodes.push_back({First, Loop, {}, {}, {}});
  return It->second;
}

std::vector<FrequencyOfRegions::Node> FrequencyOfRegions::nodesOf(Region R, unsigned Entry) const {
  std::vector<Node> Nodes;
  std::map<unsigned, unsigned> Known;
  nodeOf(R, Entry, Nodes, Known);
  // A loop's header is the entry of the loop's own region. Within that region it is an ordinary
  // block.
  for (size_t I = 0; I < Nodes.size(); ++I) {
    std::vector<unsigned> Blocks = {Nodes[I].Block};
    if (Nodes[I].Loop)
      Blocks = F.Loops[*Nodes[I].Loop].Blocks;
    for (unsigned From : Blocks)
      for (unsigned To : F.Blocks[From].Successors) {
        bool Stays = Nodes[I].Loop && F.contains(*Nodes[I].Loop, To);
        bool Leaves = R && (To == Entry || !F.contains(*R, To));
        if (Stays || Leaves)
          continue;
        Nodes[I].Out.push_back({From, To});
        unsigned Next = nodeOf(R, To, Nodes, Known);
        Nodes[I].Next.push_back(Next);
      }
  }
  return Nodes;
}

void FrequencyOfRegions::makeAcyclic(std::vector<Node> &Nodes, ArrayRef<unsigned> Order) const {
  std::vector<size_t> Place(Nodes.size());
  for (auto [At, I] : enumerate(Order))
    Place[I] = At;
  for (unsigned I : reverse(Order)) {
    Node &N = Nodes[I];
    N.Reached.resize(PerRun.size());
    if (N.Loop && knownRuns(*N.Loop))
      N.Reached.set(*N.Loop);
    for (size_t E = N.Out.size(); E-- > 0;)
      if (Place[N.Next[E]] <= Place[I]) {
        N.Out.erase(N.Out.begin() + E);
        N.Next.erase(N.Next.begin() + E);
      } else {
        N.Reached |= Nodes[N.Next[E]].Reached;
      }
  }
}

/// Whether \p N is a loop or leads straight into one.
bool FrequencyOfRegions::entersLoop(const Node &N, ArrayRef<Node> All) {
  return N.Loop || (N.Next.size() == 1 && All[N.Next[0]].Loop);
}

/// Adjusts the shares of a block's ways to the loops of known runs that only one of the ways
/// reaches. That way is taken at least as often as such a loop is entered, and exactly as often if
/// it leads straight into the loop. \p Mass is how often the block runs in one run of the region.
void FrequencyOfRegions::demand(const Node &N, ArrayRef<Node> All, double Mass,
                                MutableArrayRef<double> Share) const {
  if (N.Loop || PerRun.empty() || N.Next.size() < 2 || !(Mass > 0))
    return;
  double Bound = 0, Free = 0;
  SmallVector<bool> IsFree;
  for (auto [Next, S] : zip_equal(N.Next, Share)) {
    BitVector Own = All[Next].Reached;
    for (unsigned Other : N.Next)
      if (Other != Next)
        Own.reset(All[Other].Reached);
    double Entries = 0;
    for (unsigned Loop : Own.set_bits())
      Entries = std::max(Entries, std::min(entriesOf(Loop) / Mass, 1.0));
    IsFree.push_back(Own.none());
    if (Own.any())
      S = entersLoop(All[Next], All) ? Entries : std::max(S, Entries);
    (Own.any() ? Bound : Free) += S;
  }
  // The other ways share what is left.
  size_t Others = count(IsFree, true);
  double Left = std::max(1 - Bound, 0.0);
  for (auto [Other, S] : zip_equal(IsFree, Share))
    if (Other)
      S = Free > 0 ? S / Free * Left : Left / Others;
    else if (!Others || Bound > 1)
      S = Bound > 0 ? S / Bound : 1.0 / Share.size();
}

/// Returns how the executions that leave node \p N divide among its edges. \p Inner tells how often
/// each block of the node's loop runs in one trip of that loop. \p Mass is how often the node runs
/// in one run of the region.
std::vector<double> FrequencyOfRegions::shares(const Node &N, ArrayRef<Node> All,
                                               ArrayRef<double> Inner, double Mass) const {
  auto EntersLoop = [&](unsigned Next) { return entersLoop(All[Next], All); };
  // The exit of a loop is decided by its own blocks, so no way is preferred here.
  bool SomeEnter = !N.Loop && any_of(N.Next, EntersLoop);
  bool AllEnd = all_of(N.Out, [&](const Edge &E) { return F.Blocks[E.To].EndsAtOnce; });
  std::vector<double> Share;
  double Sum = 0;
  for (auto [E, Next] : zip_equal(N.Out, N.Next)) {
    bool Taken = SomeEnter ? EntersLoop(Next) : AllEnd || !F.Blocks[E.To].EndsAtOnce;
    Share.push_back(!Taken ? 0 : N.Loop ? Inner[E.From] : 1);
    Sum += Share.back();
  }
  for (double &S : Share)
    S = Sum > 0 ? S / Sum : 1.0 / Share.size();
  demand(N, All, Mass, Share);
  return Share;
}

void FrequencyOfRegions::addRegion(Region R, unsigned Entry, double Mass,
                                   std::vector<double> &Result) {
  std::vector<Node> Nodes = nodesOf(R, Entry);
  std::vector<std::vector<unsigned>> Successors;
  for (const Node &N : Nodes)
    Successors.push_back(N.Next);
  std::vector<double> In(Nodes.size());
  In[0] = Mass;
  std::vector<unsigned> Order = reversePostOrder(Successors);
  makeAcyclic(Nodes, Order);
  for (unsigned I : Order) {
    const Node &N = Nodes[I];
    std::vector<double> Inner;
    if (N.Loop) {
      Inner.resize(F.Blocks.size());
      addRegion(N.Loop, N.Block, 1, Inner);
      auto Known = knownRuns(*N.Loop);
      double Runs = Known ? Mass * *Known : In[I] * Trips[*N.Loop];
      for (unsigned Block : F.Loops[*N.Loop].Blocks)
        Result[Block] += Runs * Inner[Block];
    } else {
      Result[N.Block] += In[I];
    }
    for (auto [Next, Share] : zip_equal(N.Next, shares(N, Nodes, Inner, In[I] / Mass)))
      In[Next] += In[I] * Share;
  }
}

} // namespace

std::vector<double> carve::blockFrequencies(const ControlFlow &Flow, ArrayRef<double> Trips,
                                            ArrayRef<std::optional<double>> PerRun) {
  return FrequencyOfRegions(Flow, Trips, PerRun).run();
}
