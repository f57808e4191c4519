syntax error(
