int main(void) { return X - 1; }
