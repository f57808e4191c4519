#include "Tune/PlacedRequest.h"

using namespace carve;

void carve::placeRequest(TuneRequest &Request, const Toolchain &T, const CommandContext &Context) {
  Request.Options.DevicesDir = Context.Install.DevicesDir;
  Request.Probe = {Context.Install.Probe, findCupti(T.BinDir).value_or("")};
  Request.Gpus = gpuPlaces(Context.Env);
}
