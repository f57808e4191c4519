#pragma once
#define FACTOR 2
void runScale();
int hostValue();
