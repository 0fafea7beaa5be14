// D's grammar. The compiler parses item by item (compiler/parse/parse.h), so that an error in one does not hide those in others.
parser grammar DParser;

options { tokenVocab = DLexer; }

item
    : clause
    | inlineDefinition
    | translatorDefinition
    | providerDefinition
    | declaration
    | SEMI
    ;

// --- Clauses

clause          : probe (COMMA probe)* COMMA? predicate? body?;
probe           : PROBE | INTEGER;
predicate       : SLASH expression SLASH;
body            : LBRACE statements RBRACE;
statements      : statement (SEMI statement)*;
statement       : ifStatement* expression?;
ifStatement     : IF LPAREN expression RPAREN branch (ELSE branch)?;
branch          : body | ifStatement | expression? SEMI;

// --- Declarations

declaration     : specifier+ (declarator (COMMA declarator)*)? SEMI;
inlineDefinition: INLINE specifier+ declarator ASSIGN expr SEMI;
translatorDefinition
                : TRANSLATOR typeName LESS typeName IDENTIFIER GREATER LBRACE translatorMember* RBRACE SEMI;
translatorMember: IDENTIFIER ASSIGN expr SEMI;
providerDefinition
                : PROVIDER IDENTIFIER LBRACE providerProbe* RBRACE SEMI;
providerProbe   : KEY_PROBE IDENTIFIER signature (COLON signature)? SEMI;
signature       : LPAREN parameters? RPAREN;

specifier
    : STORAGE                                                                  # storageSpecifier
    | TYPEDEF                                                                  # storageSpecifier
    | SELF                                                                     # storageSpecifier
    | THIS                                                                     # storageSpecifier
    | typeSpecifier                                                            # typeSpecifierOnly
    ;
typeSpecifier
    : QUALIFIER                                                                # qualifierSpecifier
    | USERLAND                                                                 # userlandSpecifier
    | BASIC_TYPE                                                               # basicSpecifier
    | (TYPE_NAME | SCOPED_NAME)                                                # namedSpecifier
    | (STRUCT | UNION) name (LBRACE member* RBRACE)?                           # structSpecifier
    | (STRUCT | UNION) LBRACE member* RBRACE                                   # structSpecifier
    | ((STRUCT | UNION) SCOPED_NAME | (SCOPED_STRUCT | SCOPED_UNION) name)     # structSpecifier
    | ENUM name (LBRACE enumerator (COMMA enumerator)* COMMA? RBRACE)?         # enumSpecifier
    | (ENUM SCOPED_NAME | SCOPED_ENUM name)                                    # enumSpecifier
    | ENUM LBRACE enumerator (COMMA enumerator)* COMMA? RBRACE                 # enumSpecifier
    ;
name            : IDENTIFIER | TYPE_NAME;
member          : typeSpecifier+ (memberDeclarator (COMMA memberDeclarator)*)? SEMI;
memberDeclarator: declarator (COLON expr)? | COLON expr;
enumerator      : (name | SCOPED_NAME) (ASSIGN expr)?;

declarator      : pointer* directDeclarator;
pointer         : STAR QUALIFIER*;
directDeclarator: (name | LPAREN declarator RPAREN) declaratorSuffix*;
declaratorSuffix
    : LBRACKET RBRACKET                                                        # arraySuffix
    | LBRACKET expr RBRACKET                                                   # arraySuffix
    | LBRACKET parameters RBRACKET                                             # keySuffix
    | LPAREN parameters? RPAREN                                                # functionSuffix
    ;
parameters      : parameter (COMMA parameter)*;
parameter       : ELLIPSIS | specifier+ (declarator | abstractDeclarator)?;
abstractDeclarator
                : pointer+ directAbstract? | directAbstract;
directAbstract  : LPAREN abstractDeclarator RPAREN declaratorSuffix* | declaratorSuffix+;
knownType       : typeSpecifier+ abstractDeclarator?;
// An identifier that the lexer does not know as a type may name one of the traced process, where it can be nothing else.
typeName        : knownType | QUALIFIER* IDENTIFIER QUALIFIER* abstractDeclarator?;

// --- Expressions, C's precedence from the top down

expression      : expr (COMMA expr)*;
arguments       : expr (COMMA expr)*;

expr
    : INTEGER                                                                  # integer
    | FLOATING                                                                 # floating
    | CHARACTER                                                                # character
    | STRING                                                                   # string
    | MACRO                                                                    # macro
    | AGGREGATION                                                              # aggregation
    | (SELF | THIS) ARROW name                                                 # scoped
    | IDENTIFIER LPAREN arguments? RPAREN                                      # call
    | IDENTIFIER                                                               # identifier
    | SCOPED_NAME                                                              # external
    | LPAREN expression RPAREN                                                 # parenthesized
    | OFFSETOF LPAREN typeName COMMA name RPAREN                               # offsetOf
    | SIZEOF LPAREN knownType RPAREN                                           # sizeofType
    | XLATE LESS typeName GREATER LPAREN expression RPAREN                     # translate
    | expr LBRACKET arguments RBRACKET                                         # index
    | expr (DOT | ARROW) name                                                  # select
    | expr (INCREMENT | DECREMENT)                                             # postfix
    | (INCREMENT | DECREMENT | PLUS | MINUS | TILDE | NOT | STAR | AND) expr   # unary
    | SIZEOF expr                                                              # sizeofValue
    | STRINGOF expr                                                            # stringOf
    | LPAREN typeName RPAREN expr                                              # cast
    | expr (STAR | SLASH | PERCENT) expr                                       # binary
    | expr (PLUS | MINUS) expr                                                 # binary
    | expr (SHIFT_LEFT | SHIFT_RIGHT) expr                                     # binary
    | expr (LESS | LESS_EQUAL | GREATER | GREATER_EQUAL) expr                  # binary
    | expr (EQUAL | NOT_EQUAL) expr                                            # binary
    | expr AND expr                                                            # binary
    | expr XOR expr                                                            # binary
    | expr OR expr                                                             # binary
    | expr LOGICAL_AND expr                                                    # binary
    | expr LOGICAL_XOR expr                                                    # binary
    | expr LOGICAL_OR expr                                                     # binary
    | <assoc=right> expr QUESTION expression COLON expr                        # conditional
    | <assoc=right> expr (ASSIGN | ASSIGN_OP) expr                             # assignment
    ;
