#include <torch/extension.h>

void scaleInPlace(torch::Tensor T);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, M) { M.def("scale_", &scaleInPlace); }
